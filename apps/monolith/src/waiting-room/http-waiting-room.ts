import { queueStatusAnswer, STATE_NEEDED_HEADER, type QueueStatusAnswer } from '#contracts/waiting-room-control';
import { jsonIn, type HttpAnswer } from '#platform/http-client/http-client';
import { RequestRefused } from '#platform/http/request-refused';
import { ConcurrencyLimit } from '#platform/limits/concurrency-limit';
import { driverClientOf, prepared } from '#platform/postgres/database';
import { rollBack } from '#platform/postgres/roll-back';
import type { DataSource } from 'typeorm';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import { controlOf, WaitingRoomApi, type QueuedMatch, type RemainingSector } from './waiting-room.api.ts';
import type { QueueRestorer } from './queue-restorer.ts';
import type { QueueServiceCalls } from './queue-service-calls.ts';

/**
 * The class id of the queue locks: advisory locks in PostgreSQL, one for each match, that let one process at a time change its
 * queue.
 */
const LOCK_CLASS = 7_426_002;
const BEGIN = `
  begin isolation level read committed;
  set local lock_timeout = '8s';
  set local idle_in_transaction_session_timeout = '60s'`;
const LOCK = 'select pg_advisory_xact_lock($1, hashtext($2))';

/** Calls the queue service over HTTP, and takes the queue locks in PostgreSQL. */
export class HttpWaitingRoom extends WaitingRoomApi {
  /** At most 2 holders of a queue lock per process, and at most 200 callers that wait. */
  private readonly lockHolders = new ConcurrencyLimit(2, 200);

  constructor(
    private readonly calls: QueueServiceCalls,
    private readonly restorer: QueueRestorer,
    private readonly purchase: PurchaseApi,
    private readonly dataSource: DataSource,
  ) {
    super();
  }

  async sync(match: QueuedMatch, usefulWindows?: number): Promise<void> {
    const useful = usefulWindows ?? (await this.usefulWindowsOf(match));
    const answer = await this.calls.call('PUT', `queue/${match.id}/control`, controlOf(match, useful));
    if (answer.headers[STATE_NEEDED_HEADER] !== undefined) return this.restorer.restore(match, useful);
    if (match.saleStatus === 'sold_out' && usefulWindows === undefined) await this.reportRemaining(match.id, []);
  }

  /**
   * Restores the state of a match if the waiting room does not know it. Returns true if it restored the state. Call it only in
   * `withQueueLock`.
   */
  async restoreIfUnknown(match: QueuedMatch): Promise<boolean> {
    if ((await this.queueStatus(match.id)) !== 'unknown') return false;
    await this.restorer.restore(match, await this.usefulWindowsOf(match));
    return true;
  }

  /** Tells the waiting room that this match has no queue. */
  async reportNoQueue(matchId: string): Promise<void> {
    await this.calls.call('PUT', `queue/${matchId}/restore`, { exists: false });
  }

  async reportRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<void> {
    await this.calls.call('POST', `queue/${matchId}/sold-out`, { as_of: asOf, remaining_sectors: sectors });
  }

  async complete(matchId: string, userId: string, sessionToken: string): Promise<void> {
    const answer = await this.calls.call('POST', `queue/${matchId}/windows/${userId}/complete`, { session_token: sessionToken });
    if (answer.headers[STATE_NEEDED_HEADER] === undefined) return;
    throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail: 'The waiting room does not know the state of this match yet.' });
  }

  async forget(userId: string): Promise<void> {
    await this.calls.call('DELETE', `queue-fans/${userId}`);
  }

  async figures(matchId: string): Promise<QueueStatusAnswer | undefined> {
    const answer = await this.calls.call('GET', `queue/${matchId}/status`).catch(() => undefined);
    return answer && statusIn(answer);
  }

  async queueStatus(matchId: string): Promise<'unknown' | QueueStatusAnswer['status'] | undefined> {
    const answer = await this.calls.send('GET', `queue/${matchId}/status`).catch(() => undefined);
    if (answer?.status === 404) return 'unknown';
    if (answer?.status === 503) return isStateNeeded(answer) ? 'unknown' : undefined;
    return answer && statusIn(answer)?.status;
  }

  /**
   * Takes an advisory lock in a transaction on a separate connection, so that the lock is released in every case, at the latest
   * when the connection ends. Other replicas wait at most 8 s for the lock. A process takes at most two of these locks at once:
   * each uses one connection of the pool, and `work` needs further ones, so many locks at once would leave no connection for the
   * work.
   */
  withQueueLock<T>(matchId: string, work: () => Promise<T>): Promise<T> {
    return this.lockHolders.run(async () => {
      const runner = this.dataSource.createQueryRunner();
      try {
        const client = await driverClientOf(runner);
        try {
          await client.query(BEGIN);
          await client.query(prepared(LOCK, [LOCK_CLASS, matchId]));
          return await work();
        } finally {
          await rollBack(client);
        }
      } finally {
        await runner.release();
      }
    });
  }

  /**
   * Counts the useful windows of a match. The number is sent with each state of the match, so that no sale opens without it.
   * Undefined if the sale grants no turns.
   */
  private async usefulWindowsOf({ id, saleStatus }: QueuedMatch): Promise<number | undefined> {
    if (saleStatus === 'sold_out' || saleStatus === 'closed') return undefined;
    return (await this.purchase.seatsLeftNow(id)).usefulWindows;
  }
}

function statusIn(answer: HttpAnswer): QueueStatusAnswer | undefined {
  return queueStatusAnswer.safeParse(jsonIn(answer)).data;
}

/**
 * A 503 has two reasons: the waiting room does not know the match, or it cannot reach Redis. Returns true if it does not know the
 * match.
 */
function isStateNeeded(answer: HttpAnswer): boolean {
  return (jsonIn(answer) as { state_needed?: boolean } | undefined)?.state_needed === true;
}
