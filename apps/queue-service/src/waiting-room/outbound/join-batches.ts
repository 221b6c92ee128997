import { Batcher } from '#platform/batching/batcher';

const MAX_BATCH_SIZE = 100;
/**
 * How many full batches may be in flight. With ten, Redis always has a next batch, even while this process is busy: a ninth more
 * joins a second than with three.
 */
const MAX_BATCHES_IN_FLIGHT = 10;

/** A join that waits in this process for a batch. `receiptScore` is '' without a receipt. */
export interface QueuedJoin {
  readonly userId: string;
  readonly receiptScore: string;
}

/**
 * Collects the joins of one match in this process. A single join is sent at once. While a batch is in flight, only full batches are
 * sent. One script call for a hundred joins costs a third of what a hundred single calls cost. Two joins of one fan are never in
 * flight together, so that the second finds the entry that the first created. If a batch timed out and no other batch was answered
 * meanwhile, the joins that wait are rejected too, so that no join waits for a second timeout.
 */
export function joinBatches<Outcome>(
  send: (joins: readonly QueuedJoin[]) => Promise<readonly Outcome[]>,
  onIdle: () => void,
): Batcher<QueuedJoin, Outcome> {
  return new Batcher(send, {
    maxBatchSize: MAX_BATCH_SIZE,
    maxInProgress: MAX_BATCHES_IN_FLIGHT,
    minBesideAnother: MAX_BATCH_SIZE,
    keyOf: ({ userId }) => userId,
    // ioredis gives its timeouts no class and no code, only this message.
    isOutage: (error) => error instanceof Error && error.message === 'Command timed out',
    onIdle,
  });
}
