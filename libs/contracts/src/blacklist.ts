import { z } from 'zod';
import { pageOf } from './paging.ts';
import { plainText, uuidField } from './text-fields.ts';

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

export const blacklistPageAnswer = pageOf(blacklistEntryAnswer).meta({ id: 'Blacklist' });

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
