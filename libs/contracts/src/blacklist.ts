import { z } from 'zod';
import { idOf } from './answer-fields.ts';
import { pageOf } from './paging.ts';
import { plainText, uuidField } from './text-fields.ts';

export const putFanOnBlacklistRequest = z
  .strictObject({
    user_id: uuidField.meta({ description: 'The fan to put on the blacklist' }),
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
    user_id: idOf('fan'),
    reason: z.string().meta({ description: 'What the operator wrote. The fan is not told' }),
    until: z.iso
      .datetime()
      .nullable()
      .meta({ description: 'When the entry ends. Null: when an operator takes the fan off the list' }),
    listed_by: idOf('operator who wrote the entry last'),
    listed_at: z.iso.datetime().meta({ description: 'When the entry was written last' }),
  })
  .meta({ id: 'BlacklistEntry' });

export const blacklistPageAnswer = pageOf(blacklistEntryAnswer).meta({ id: 'Blacklist' });

const change = z.object({
  action: z
    .enum(['list', 'lift'])
    .meta({ description: '`list`: put on the list, or the entry changed. `lift`: taken off the list' }),
  reason: z.string().nullable().meta({ description: 'What the operator wrote. Null for `lift`' }),
  until: z.iso.datetime().nullable().meta({ description: 'When the entry was to end. Null: without an end, and for `lift`' }),
  by: idOf('operator'),
  at: z.iso.datetime().meta({ description: 'When the operator did it' }),
});

export const blacklistHistoryAnswer = z
  .object({
    user_id: idOf('fan'),
    entry: blacklistEntryAnswer.nullable().meta({ description: 'Null when the fan is not listed now' }),
    history: z.array(change).meta({ description: 'Newest first, at most 100' }),
  })
  .meta({ id: 'BlacklistHistory' });
