import { z } from 'zod';

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
  seat_ids: z
    .array(id)
    .min(1)
    .max(500)
    .refine((ids) => new Set(ids).size === ids.length, 'names a seat twice'),
  sold_at: z.iso.datetime({ offset: true }),
});
