import { z } from 'zod';

/** Whether the line of a match admits fans. */
export const queueStatus = z.enum(['scheduled', 'active', 'paused', 'closed']);

/**
 * Body of the internal call with which the monolith sets up the line of a match in the waiting room. It is allowed only with
 * `X-Internal-Auth`. Omitted fields keep their value.
 */
export const controlRequest = z.strictObject({
  status: queueStatus.optional(),
  opens_at: z.iso.datetime().nullable().optional(),
  processing_rate: z.int().min(1).max(1_000_000).optional(),
  max_open_windows: z.int().min(0).max(1_000_000).optional(),
  useful_windows: z.int().min(0).nullable().optional(),
  reason: z.string().max(200).nullable().optional(),
});
/** The settings of a line that one `control` call changes. */
export type ControlRequest = z.infer<typeof controlRequest>;

/** An open purchase window, as PostgreSQL has it. `place_score` is the join time (µs) of the queue entry that got the turn. */
const openWindow = z.strictObject({
  user_id: z.guid().toLowerCase(),
  session_token: z.string().regex(/^st_[\w-]{1,100}$/),
  expires_at: z.iso.datetime(),
  place_score: z.int().min(0).optional(),
});

/** How many entries one part of a restore may have, so that the part stays below 256 KB. */
export const MAX_RESTORED_PER_PART = { windows: 1000, used: 4000 };

/**
 * Body of the call that sends the state of a match to the waiting room: after Redis has lost that state, and for a new match
 * before the first `control` call. The state is sent in parts: the first has `part` 0 and the last has `complete`. All parts of
 * one restore have the same `generation`, a number that grows with every restore.
 */
export const restoreRequest = z.strictObject({
  /** False if this match has no waiting room. */
  exists: z.boolean().optional(),
  generation: z.int().min(0).optional(),
  part: z.int().min(0).optional(),
  complete: z.boolean().optional(),
  /** The settings of the line. Only in part 0. */
  sale: controlRequest.extend({ closed_reason: z.enum(['sold_out', 'closed']).optional() }).optional(),
  counts: z.strictObject({ granted: z.int().min(0), completed: z.int().min(0), expired: z.int().min(0) }).optional(),
  windows: z.array(openWindow).max(MAX_RESTORED_PER_PART.windows).optional(),
  /**
   * Pairs of a fan who used or gave up a turn, and the join time (µs) of the queue entry of that turn (the latest one). A receipt
   * cannot restore that entry.
   */
  used: z
    .array(z.tuple([z.guid().toLowerCase(), z.int().min(0)]))
    .max(MAX_RESTORED_PER_PART.used)
    .optional(),
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
  /**
   * Number of the report, which grows with every count of free seats. The waiting room ignores a report whose number is
   * smaller than that of the newest report it has applied.
   */
  as_of: z.int().min(0).optional(),
  remaining_sectors: z
    .array(z.strictObject({ sector_id: z.guid(), name: z.string().max(100), available: z.int().min(0) }))
    .max(200),
});
/** A report of the sectors that still have free seats. */
export type SoldOutRequest = z.infer<typeof soldOutRequest>;

/** The public status of a line. The last four fields are present only for callers with `X-Internal-Auth`. */
export const queueStatusAnswer = z.object({
  status: queueStatus,
  total: z.int(),
  processing_rate: z.int(),
  estimated_wait_minutes: z.int().nullable(),
  open_windows: z.int().optional(),
  granted: z.int().optional(),
  completed: z.int().optional(),
  expired: z.int().optional(),
});
export type QueueStatusAnswer = z.infer<typeof queueStatusAnswer>;
