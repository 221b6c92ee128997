import { z } from 'zod';

/** Whether the line of a match admits fans. */
export const queueStatus = z
  .enum(['scheduled', 'active', 'paused', 'closed'])
  .meta({ description: 'Only an `active` line grants turns. Fans can join an `active` or a `paused` one' });

/**
 * Body of the internal call with which the monolith sets up the line of a match in the waiting room. It is allowed only with
 * `X-Internal-Auth`. Omitted fields keep their value.
 */
export const controlRequest = z.strictObject({
  status: queueStatus.optional(),
  opens_at: z.iso
    .datetime()
    .nullable()
    .optional()
    .meta({ description: 'When a scheduled sale opens, for the refusal of a join. Null: not known' }),
  processing_rate: z.int().min(1).max(1_000_000).optional().meta({ description: 'How many turns may be granted a minute' }),
  max_open_windows: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .meta({ description: 'How many purchase windows may be open at the same time' }),
  useful_windows: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .meta({ description: 'How many open windows can still lead to a purchase; no more are opened. Null: no bound' }),
  reason: z.string().max(200).nullable().optional().meta({ description: 'Why the sale is paused. Null: no reason' }),
});
/** The settings of a line that one `control` call changes. */
export type ControlRequest = z.infer<typeof controlRequest>;

/** An open purchase window, as PostgreSQL has it. `place_score` is the join time (µs) of the queue entry that got the turn. */
const openWindow = z.strictObject({
  user_id: z.guid().toLowerCase().meta({ description: 'The fan who has the turn' }),
  session_token: z
    .string()
    .regex(/^st_[\w-]{1,100}$/)
    .meta({ description: 'Proof of the turn' }),
  expires_at: z.iso.datetime().meta({ description: 'When the turn ends' }),
  place_score: z.int().min(0).optional().meta({ description: 'Join time of the queue entry that got the turn, in microseconds' }),
});

/** How many entries one part of a restore may have, so that the part stays below 256 KB. */
export const MAX_RESTORED_PER_PART = { windows: 1000, used: 4000 };

/**
 * Body of the call that sends the state of a match to the waiting room: after Redis has lost that state, and for a new match
 * before the first `control` call. The state is sent in parts: the first has `part` 0 and the last has `complete`. All parts of
 * one restore have the same `generation`, a number that grows with every restore.
 */
export const restoreRequest = z.strictObject({
  exists: z.boolean().optional().meta({ description: 'False if this match has no waiting room' }),
  generation: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Number of this restore. It grows with every restore, and all parts of one restore have the same' }),
  part: z.int().min(0).optional().meta({ description: 'Number of this part, from 0' }),
  complete: z.boolean().optional().meta({ description: 'True in the last part: fans are served from now on' }),
  sale: controlRequest
    .extend({
      closed_reason: z
        .enum(['sold_out', 'closed'])
        .optional()
        .meta({ description: 'Why the line is closed: everything is sold, or an operator closed the sale' }),
    })
    .optional()
    .meta({ description: 'The settings of the line. Only in part 0' }),
  counts: z
    .strictObject({
      granted: z.int().min(0).meta({ description: 'Turns granted so far' }),
      completed: z.int().min(0).meta({ description: 'Turns that ended with a purchase' }),
      expired: z.int().min(0).meta({ description: 'Turns that ended without a purchase' }),
    })
    .optional()
    .meta({ description: 'The numbers of turns. Only in part 0' }),
  windows: z.array(openWindow).max(MAX_RESTORED_PER_PART.windows).optional().meta({ description: 'The open purchase windows' }),
  used: z
    .array(z.tuple([z.guid().toLowerCase(), z.int().min(0)]))
    .max(MAX_RESTORED_PER_PART.used)
    .optional()
    .meta({
      description:
        'Pairs of a fan who used or gave up a turn, and the join time (µs) of the latest queue entry of such a turn. A receipt cannot restore that entry',
    }),
});
/** One part of the state of a match, as the monolith sends it. */
export type RestoreRequest = z.infer<typeof restoreRequest>;

/**
 * Response header of the waiting room: Redis does not have the state of the match, and the caller must send it with `restore`. A
 * `control` call with this answer has stored the settings, but fans are not served before the restore. A call
 * `POST …/windows/{user_id}/complete` (the fan has bought, the turn ends) with this answer has done nothing and must be repeated.
 */
export const STATE_NEEDED_HEADER = 'queue-state-needed';

/**
 * Body of the call `POST …/sold-out`: the sectors that still have free seats. The waiting room shows these sectors to the fans in
 * line. An empty list closes the line.
 */
export const soldOutRequest = z.strictObject({
  as_of: z.int().min(0).optional().meta({
    description: 'Number of the report, which only grows. A report with a smaller number than an earlier one is ignored',
  }),
  remaining_sectors: z
    .array(
      z.strictObject({
        sector_id: z.guid().meta({ description: 'Id of the sector' }),
        name: z.string().max(100).meta({ description: 'Name of the sector' }),
        available: z.int().min(0).meta({ description: 'Free seats of the sector' }),
      }),
    )
    .max(200)
    .meta({ description: 'The sectors that still have free seats. Empty: the line closes' }),
});
/** A report of the sectors that still have free seats. */
export type SoldOutRequest = z.infer<typeof soldOutRequest>;

/** The public status of a line. The last four fields are present only for callers with `X-Internal-Auth`. */
export const queueStatusAnswer = z.object({
  status: queueStatus,
  total: z.int().meta({ description: 'Fans in line now' }),
  processing_rate: z.int().meta({ description: 'How many turns may be granted a minute' }),
  estimated_wait_minutes: z
    .int()
    .nullable()
    .meta({ description: 'Expected wait of a fan who joins now, in whole minutes. Null while unknown or paused' }),
  open_windows: z.int().optional().meta({ description: 'Fans whose turn is running now. Only for our own services' }),
  granted: z.int().optional().meta({ description: 'Turns granted so far. Only for our own services' }),
  completed: z.int().optional().meta({ description: 'Turns that ended with a purchase. Only for our own services' }),
  expired: z.int().optional().meta({ description: 'Turns that ended without a purchase. Only for our own services' }),
});
export type QueueStatusAnswer = z.infer<typeof queueStatusAnswer>;
