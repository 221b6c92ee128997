import { z } from 'zod';
import { idOf } from './answer-fields.ts';

const seatAnswer = z
  .object({
    id: idOf('seat'),
    row: z.string().nullable().meta({ description: 'Row of the seat. Null for a standing place' }),
    number: z.int().nullable().meta({ description: 'Number of the seat in its row. Null for a standing place' }),
    x: z.number().nullable().meta({ description: 'Horizontal place on the drawing of the stadium. Null for a standing place' }),
    y: z.number().nullable().meta({ description: 'Vertical place on the drawing of the stadium. Null for a standing place' }),
    status: z
      .enum(['available', 'held', 'sold', 'blocked'])
      .meta({ description: '`held`: in a hold or a checkout. `blocked`: not for sale to the public' }),
  })
  .meta({ id: 'Seat' });
export type Seat = z.infer<typeof seatAnswer>;
export type SeatStatus = Seat['status'];

const version = z
  .int()
  .meta({ description: 'Grows whenever one of the seats changed; two replicas never give the same version' });

const seatList = z
  .object({ version, items: z.array(seatAnswer).meta({ description: 'Every seat; empty for a standing sector' }) })
  .meta({ id: 'SeatList' });
export type SeatList = z.infer<typeof seatList>;

const seatChanges = z
  .object({
    version,
    since: z.union([z.int(), z.string()]).meta({ description: 'The `since` of the request: the items are the changes after it' }),
    items: z
      .array(seatAnswer.pick({ id: true, status: true }))
      .meta({ description: 'The seats that changed, with their current status' }),
  })
  .meta({ id: 'SeatChanges' });
export type SeatChanges = z.infer<typeof seatChanges>;

export const seatListAnswer = z.union([seatList, seatChanges]);

const VERSION = /^(?:0|[1-9]\d{0,15})$/;
/** An ETag as the header gives it, weak if the answer was compressed, or without quotes. */
const TAG = /^(?:W\/)?"?([\w-]{27})"?$/;

export const isVersion = (since: string): boolean => VERSION.test(since);

export const seatQuery = z.object({
  since: z
    .string()
    .refine((since) => isVersion(since) || TAG.test(since), 'must be a version or an ETag')
    .transform((since) => TAG.exec(since)?.[1] ?? since)
    .optional()
    .meta({
      description:
        'The state that the caller has: its `version`, or its ETag (with or without quotes and `W/`), which is the same in every replica. ' +
        'If this replica still knows that state, it answers with the seats that changed, else with every seat and no `since`',
    }),
});

/** A message of the availability stream: the free seats of all sectors (`snapshot`) or of those that changed (`diff`). */
export const availabilityMessage = z.object({
  type: z.enum(['snapshot', 'diff']).meta({ description: '`snapshot`: all sectors. `diff`: the sectors that changed' }),
  version: z.int().meta({ description: 'Grows with every message' }),
  sectors: z
    .array(z.object({ id: idOf('sector'), available: z.int().meta({ description: 'Free seats of the sector' }) }))
    .meta({ description: 'The free seats by sector' }),
});
export type AvailabilityMessage = z.infer<typeof availabilityMessage>;
