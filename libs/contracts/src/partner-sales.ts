import { z } from 'zod';
import { idList } from './text-fields.ts';

const id = z.guid().transform((text) => text.toLowerCase());

/**
 * An event of the feed of a ticket partner: the partner has sold these seats. The seat ids are those of `GET
 * /matches/{id}/sectors/{sid}/seats`.
 */
export const partnerSale = z.looseObject({
  type: z.literal('partner.sale'),
  /** The partner's own id of the sale. */
  reference: z.string().min(1).max(200),
  match_id: id,
  seat_ids: idList(id, 500, 'names a seat twice'),
  sold_at: z.iso.datetime({ offset: true }),
});
