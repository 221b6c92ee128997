import { queueStatusAnswer, type QueueStatusAnswer } from '#contracts/waiting-room-control';
import { RequestRefused } from '#platform/http/request-refused';
import { Lanes } from '#platform/limits/lanes';
import { driverClientOf, prepared } from '#platform/postgres/database';
import { mustBeOutsideTransaction } from '#platform/postgres/open-transaction';
import { rollBack } from '#platform/postgres/roll-back';
import type { DataSource } from 'typeorm';
import { controlOf, WaitingRoomApi, type QueuedMatch, type RemainingSector } from '../waiting-room.api.ts';

const TIMEOUT_MS = 3000;
/** Class of the advisory locks that serialise changes of one match's queue. */
const LOCK_CLASS = 7_426_002;
const BEGIN = `
  begin isolation level read committed;
  set local lock_timeout = '8s';
  set local idle_in_transaction_session_timeout = '60s'`;
const LOCK = 'select pg_advisory_xact_lock($1, hashtext($2))';

export class HttpWaitingRoom extends WaitingRoomApi {
  private readonly locks = new Lanes(2, 200);

  constructor(
    private readonly baseUrl: string,
    private readonly internalSecret: string,
    private readonly dataSource: DataSource,
  ) {
    super();
  }

  async tell(match: QueuedMatch, usefulWindows?: number): Promise<void> {
    await this.call('PUT', `${match.id}/control`, controlOf(match, usefulWindows));
    if (match.saleStatus === 'sold_out') await this.tellRemaining(match.id, []);
  }

  async tellRemaining(matchId: string, sectors: readonly RemainingSector[]): Promise<void> {
    await this.call('POST', `${matchId}/sold-out`, { remaining_sectors: sectors });
  }

  async complete(matchId: string, userId: string, sessionToken: string): Promise<void> {
    await this.call('POST', `${matchId}/windows/${userId}/complete`, { session_token: sessionToken });
  }

  async status(matchId: string): Promise<QueueStatusAnswer | undefined> {
    const response = await this.call('GET', `${matchId}/status`).catch(() => undefined);
    return response && statusIn(response);
  }

  async look(matchId: string): Promise<'unknown' | QueueStatusAnswer['status'] | undefined> {
    const response = await this.send('GET', `${matchId}/status`).catch(() => undefined);
    if (response?.status === 404) return 'unknown';
    return response && (await statusIn(response))?.status;
  }

  /**
   * The lock is a transaction's, on a connection that does nothing else: it is gone with the connection, whatever happens, and
   * a replica that stands still is waited for 8 s. A few at a time, because each holds one connection of the pool while its
   * work needs others: fifty at once would have them all and starve on the next.
   */
  exclusively<T>(matchId: string, work: () => Promise<T>): Promise<T> {
    return this.locks.run(async () => {
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

  private async call(method: string, path: string, body?: unknown): Promise<Response> {
    const response = await this.send(method, path, body).catch((error: unknown) => {
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', {
        detail: 'The waiting room does not answer; nothing was changed.',
        cause: error,
      });
    });
    if (response.ok) return response;
    const detail = `The waiting room answered ${response.status}; nothing was changed.`;
    throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail });
  }

  private send(method: string, path: string, body?: unknown): Promise<Response> {
    mustBeOutsideTransaction('a call to the waiting room');
    return fetch(`${this.baseUrl}/api/v1/queue/${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'x-internal-auth': this.internalSecret, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

async function statusIn(response: Response): Promise<QueueStatusAnswer | undefined> {
  return queueStatusAnswer.safeParse(await response.json().catch(() => undefined)).data;
}
