import { givenId, plainText } from '#platform/http/text-fields';
import { z } from 'zod';
import type { Listing, ListingChange } from '../application/ports.ts';

export const listFanRequest = z
  .strictObject({
    user_id: givenId,
    reason: plainText(200).meta({ description: 'For operators; the fan is not told' }),
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .meta({ description: 'Omitted or null: until an operator takes the fan off the list' }),
  })
  .meta({ id: 'ListFanRequest' });

export const listingAnswer = z
  .object({
    user_id: z.guid(),
    reason: z.string(),
    until: z.iso.datetime().nullable(),
    listed_by: z.guid(),
    listed_at: z.iso.datetime(),
  })
  .meta({ id: 'BlacklistEntry' });

export const listingListAnswer = z
  .object({ items: z.array(listingAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'Blacklist' });

const change = z.object({
  action: z.enum(['list', 'lift']),
  reason: z.string().nullable(),
  until: z.iso.datetime().nullable(),
  by: z.guid(),
  at: z.iso.datetime(),
});

export const historyAnswer = z
  .object({
    user_id: z.guid(),
    entry: listingAnswer.nullable().meta({ description: 'Null when the fan is not listed now' }),
    history: z.array(change).meta({ description: 'Newest first, at most 100' }),
  })
  .meta({ id: 'BlacklistHistory' });

export function listingView({ userId, reason, until, listedBy, listedAt }: Listing): z.infer<typeof listingAnswer> {
  return {
    user_id: userId,
    reason,
    until: until?.toISOString() ?? null,
    listed_by: listedBy,
    listed_at: listedAt.toISOString(),
  };
}

export function historyView(
  userId: string,
  found: { listing: Listing | undefined; changes: readonly ListingChange[] },
): z.infer<typeof historyAnswer> {
  return {
    user_id: userId,
    entry: found.listing ? listingView(found.listing) : null,
    history: found.changes.map(({ action, reason, until, by, at }) => ({
      action,
      reason,
      until: until?.toISOString() ?? null,
      by,
      at: at.toISOString(),
    })),
  };
}
