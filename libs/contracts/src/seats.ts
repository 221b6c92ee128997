import { z } from 'zod';

const seatAnswer = z
  .object({
    id: z.guid(),
    row: z.string().nullable(),
    number: z.int().nullable(),
    x: z.number().nullable(),
    y: z.number().nullable(),
    status: z.enum(['available', 'held', 'sold', 'blocked']),
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
  type: z.enum(['snapshot', 'diff']),
  version: z.int(),
  sectors: z.array(z.object({ id: z.guid(), available: z.int() })),
});
export type AvailabilityMessage = z.infer<typeof availabilityMessage>;
