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

export const soldOutRequest = z.strictObject({
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
