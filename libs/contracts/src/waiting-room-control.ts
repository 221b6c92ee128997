import { z } from 'zod';

/** The internal calls of the monolith to the waiting room; `X-Internal-Auth` only. What is left out stays. */
export const queueStatus = z.enum(['scheduled', 'active', 'paused', 'closed']);

export const controlRequest = z.strictObject({
  status: queueStatus.optional(),
  opens_at: z.iso.datetime().nullable().optional(),
  processing_rate: z.int().min(1).max(1_000_000).optional(),
  max_open_windows: z.int().min(0).max(1_000_000).optional(),
  useful_windows: z.int().min(0).nullable().optional(),
  reason: z.string().max(200).nullable().optional(),
});
export type ControlRequest = z.infer<typeof controlRequest>;

/** One window as PostgreSQL had it; `place_score` is the join time (µs) of the place that had this turn. */
const openWindow = z.strictObject({
  user_id: z.guid().toLowerCase(),
  session_token: z.string().regex(/^st_[\w-]{1,100}$/),
  expires_at: z.iso.datetime(),
  place_score: z.int().min(0).optional(),
});

/** What fits into a part of 256 KB. */
export const MOST_RESTORED = { windows: 1000, used: 4000 };

/**
 * The state of a match after Redis has lost it, and before the first `control` of a new match; in parts, of which the first is
 * number 0 and the last has `complete`. Parts of one restoring share a `generation`, which grows with every restoring.
 */
export const restoreRequest = z.strictObject({
  /** false: this match has no waiting room. */
  exists: z.boolean().optional(),
  generation: z.int().min(0).optional(),
  part: z.int().min(0).optional(),
  complete: z.boolean().optional(),
  /** In part 0. */
  sale: controlRequest.extend({ closed_reason: z.enum(['sold_out', 'closed']).optional() }).optional(),
  counts: z.strictObject({ granted: z.int().min(0), completed: z.int().min(0), expired: z.int().min(0) }).optional(),
  windows: z.array(openWindow).max(MOST_RESTORED.windows).optional(),
  /** Fans who have used or given up a turn, each with the join time (µs) of the latest such place: no receipt brings it back. */
  used: z
    .array(z.tuple([z.guid().toLowerCase(), z.int().min(0)]))
    .max(MOST_RESTORED.used)
    .optional(),
});
export type RestoreRequest = z.infer<typeof restoreRequest>;

/**
 * Header of an answered call: Redis does not know the state of the match. `control` has taken the settings, but fans are not served
 * before the state is restored; `complete` has done nothing and has to be called again.
 */
export const STATE_NEEDED_HEADER = 'queue-state-needed';

export const soldOutRequest = z.strictObject({
  /** Grows with every count; a report with a smaller one is older than what is known, and is ignored. */
  as_of: z.int().min(0).optional(),
  remaining_sectors: z
    .array(z.strictObject({ sector_id: z.guid(), name: z.string().max(100), available: z.int().min(0) }))
    .max(200),
});
export type SoldOutRequest = z.infer<typeof soldOutRequest>;

/** The public status; the last four only with `X-Internal-Auth`. */
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
