import { MAX_RESTORED_PER_PART, type RestoreRequest } from '#contracts/waiting-room-control';
import type { StoredTurns } from '../purchase/stored-turns.api.ts';
import { restoredSaleOf, type QueuedMatch } from './waiting-room.api.ts';
import type { QueueServiceCalls } from './queue-service-calls.ts';

/**
 * Sends the waiting room the state of a match after Redis lost it: the sale, all open turns, and the fans who have had a turn, in
 * parts of at most 256 KB. Sending 1,000 open turns and 100,000 used turns takes about a second.
 */
export class QueueRestorer {
  constructor(
    private readonly calls: QueueServiceCalls,
    private readonly turns: StoredTurns,
  ) {}

  /** Call it only under the queue lock (`withQueueLock`), so that no older state is sent after this one. */
  async restore(match: QueuedMatch, usefulWindows: number | undefined): Promise<void> {
    // The new generation (the number of this state) must come first. From then on a turn of an older generation can no longer be
    // stored in PostgreSQL, so the reads below are complete.
    const generation = await this.turns.nextGeneration(match.id);
    if (match.saleStatus === 'closed') await this.turns.endAll(match.id);
    let part = 0;
    const send = (content: RestoreRequest) =>
      this.calls.call('PUT', `queue/${match.id}/restore`, { generation, part: part++, ...content });

    await send({ sale: restoredSaleOf(match, usefulWindows), counts: await this.turns.counts(match.id) });
    const open = await this.turns.open(match.id);
    for (let from = 0; from < open.length; from += MAX_RESTORED_PER_PART.windows) {
      const windows = open.slice(from, from + MAX_RESTORED_PER_PART.windows).map((turn) => ({
        user_id: turn.userId,
        session_token: turn.sessionToken,
        expires_at: turn.expiresAt.toISOString(),
        place_score: turn.placeScore,
      }));
      await send({ windows });
    }
    for (let after: string | null = null; ;) {
      const used: readonly (readonly [string, number])[] = await this.turns.used(match.id, after, MAX_RESTORED_PER_PART.used);
      if (used.length > 0) await send({ used: used.map(([userId, score]) => [userId, score]) });
      if (used.length < MAX_RESTORED_PER_PART.used) break;
      after = used.at(-1)![0];
    }
    await send({ complete: true });
  }
}
