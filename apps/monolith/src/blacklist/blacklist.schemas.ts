import { uuidField, plainText } from '#platform/http/text-fields';
import { z } from 'zod';
import type { BlacklistEntry, BlacklistChange } from './postgres-blacklist.ts';

export const putFanOnBlacklistRequest = z
  .strictObject({
    user_id: uuidField,
    reason: plainText(200).meta({ description: 'For operators; the fan is not told' }),
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .meta({ description: 'Omitted or null: until an operator takes the fan off the list' }),
  })
  .meta({ id: 'ListFanRequest' });

export const blacklistEntryAnswer = z
  .object({
    user_id: z.guid(),
    reason: z.string(),
    until: z.iso.datetime().nullable(),
    listed_by: z.guid(),
    listed_at: z.iso.datetime(),
  })
  .meta({ id: 'BlacklistEntry' });

export const blacklistPageAnswer = z
  .object({ items: z.array(blacklistEntryAnswer), next_cursor: z.string().nullable() })
  .meta({ id: 'Blacklist' });

const change = z.object({
  action: z.enum(['list', 'lift']),
  reason: z.string().nullable(),
  until: z.iso.datetime().nullable(),
  by: z.guid(),
  at: z.iso.datetime(),
});

export const blacklistHistoryAnswer = z
  .object({
    user_id: z.guid(),
    entry: blacklistEntryAnswer.nullable().meta({ description: 'Null when the fan is not listed now' }),
    history: z.array(change).meta({ description: 'Newest first, at most 100' }),
  })
  .meta({ id: 'BlacklistHistory' });

/** An entry of the blacklist in the format of the API. */
export function blacklistEntryView({
  userId,
  reason,
  until,
  listedBy,
  listedAt,
}: BlacklistEntry): z.infer<typeof blacklistEntryAnswer> {
  return {
    user_id: userId,
    reason,
    until: until?.toISOString() ?? null,
    listed_by: listedBy,
    listed_at: listedAt.toISOString(),
  };
}

/** The entry and the history of a fan, in the format of the API. */
export function blacklistHistoryView(
  userId: string,
  found: { listing: BlacklistEntry | undefined; changes: readonly BlacklistChange[] },
): z.infer<typeof blacklistHistoryAnswer> {
  return {
    user_id: userId,
    entry: found.listing ? blacklistEntryView(found.listing) : null,
    history: found.changes.map(({ action, reason, until, by, at }) => ({
      action,
      reason,
      until: until?.toISOString() ?? null,
      by,
      at: at.toISOString(),
    })),
  };
}
