import { queueKeys } from '#contracts/queue-keys';
import { removeJobs } from '#messaging/jobs/remove-jobs';
import { runUnprepared } from '#platform/postgres/database';
import { runReadCommitted } from '#platform/postgres/read-committed';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { DataSource } from 'typeorm';
import type { TracesOfFan } from '../../fans/kept-about-fans.api.ts';
import * as sql from './erasure.sql.ts';

/** Entries of a stream that are read at once. */
const STREAM_PAGE = 1000;
/** Keys that one command looks at. */
const SCAN_PAGE = 1000;

interface DueErasure {
  readonly id: string;
  readonly userId: string;
  readonly traces: TracesOfFan;
}

/**
 * Finishes what `DELETE /me` has begun: erases the data of a fan in events of other systems, jobs, stored answers and streams. Every step
 * may be repeated; an erasure is finished when a pass has found nothing that it had to leave.
 */
export class FanErasures {
  constructor(
    private readonly database: DataSource,
    private readonly redis: RedisConnection,
  ) {}

  /** Works off the erasures that were requested so many seconds ago or earlier. Returns how many are finished. */
  async runOnce(minAgeSeconds: number): Promise<number> {
    const due = await this.database.query<DueErasure[]>(sql.DUE_ERASURES, [minAgeSeconds]);
    if (due.length === 0) return 0;
    const traces = searched(due);
    await this.eraseRows(traces);
    await this.emptyAnswers(traces);
    // Whether something had to be left is known for all of them only: a pass later all are done.
    const isAllGone = await this.deleteMessages(traces);
    const finished: string[] = [];
    for (const { id, userId, traces: own } of due) {
      await runUnprepared(this.database, sql.ERASE_OFFERS_TO_ADDRESS.with({ userId, emails: own.emails }));
      if ((await this.eraseTurns(userId)) && isAllGone) finished.push(id);
    }
    await this.database.query(sql.FINISH_ERASURES, [finished]);
    return finished.length;
  }

  private async eraseRows(traces: sql.SearchedTraces): Promise<void> {
    const { userIds, emails, ids, pushTokens, codeParts } = traces;
    const texts = [...userIds, ...emails, ...ids, ...pushTokens].map((text) => text.toLowerCase());
    for (const statement of [
      sql.ERASE_EVENTS.with({ texts, codeParts }),
      sql.ERASE_MALFORMED_EVENTS.with({ texts }),
      sql.DELETE_MAILBOX.with({ userIds, emails, pushTokens }),
      sql.ERASE_BROADCAST_DEVICES.with({ pushTokens }),
      sql.ERASE_SANDBOX_SECRETS.with({ ids }),
      sql.ERASE_INVITATIONS.with({ userIds, emails }),
    ])
      await runReadCommitted(this.database, (tx) => tx.query(statement));
  }

  /** The copies in Redis are deleted before the commit: a pass that breaks off finds the rows again. */
  private async emptyAnswers({ userIds, emails }: sql.SearchedTraces): Promise<void> {
    await runReadCommitted(this.database, async (tx) => {
      const { rows } = await tx.query<{ key: string }>(sql.EMPTY_ANSWERS.with({ userIds, texts: [...userIds, ...emails] }));
      for (const { key } of rows) await this.redis.del(`idempotency:${key}`);
    });
  }

  /** Deletes mails and pushes that were not sent, and jobs of those that were. False if some are being relayed or sent right now. */
  private async deleteMessages(traces: sql.SearchedTraces): Promise<boolean> {
    const { userIds, emails, ids } = traces;
    const relayed = await runReadCommitted(this.database, async (tx) => {
      await tx.query(sql.DELETE_MESSAGES.with({ userIds, emails, ids }));
      const { rows } = await tx.query<{ n: number }>(sql.COUNT_MESSAGES.with({ userIds, emails, ids }));
      // Before the jobs themselves: a job whose copy is still there would come back.
      await tx.query(sql.DELETE_JOB_COPIES.with({ userIds, emails, ids }));
      return rows[0]?.n ?? 0;
    });
    const sending = await removeJobs(this.redis, (job) => isAbout(job, traces));
    return relayed === 0 && sending === 0;
  }

  /** Erases the session tokens of ended turns. False while a turn is open: the waiting room has not ended it yet. */
  private async eraseTurns(userId: string): Promise<boolean> {
    interface Turn {
      readonly matchId: string;
      readonly token: string;
      readonly isOpen: boolean;
    }
    const turns = await runUnprepared<Turn[]>(this.database, sql.TURNS_OF_ERASED_FAN.with({ userId }));
    if (turns.some(({ isOpen }) => isOpen)) return false;
    await this.eraseQueueTokens(userId);
    await this.eraseFromStreams(userId, [...new Set(turns.map(({ matchId }) => matchId))]);
    const tokens = turns.map(({ token }) => token);
    await runReadCommitted(this.database, async (tx) => {
      for (const statement of sql.REPLACE_TURN_TOKENS) await tx.query(statement, [tokens]);
    });
    return true;
  }

  /** Deletes the last messages for the fan's queue tokens. Nothing leads from the fan to a token, so this reads all of them. */
  private async eraseQueueTokens(userId: string): Promise<void> {
    for (const node of 'nodes' in this.redis ? this.redis.nodes('master') : [this.redis]) {
      for await (const keys of node.scanStream({ match: queueKeys.token('*', '*'), count: SCAN_PAGE }) as AsyncIterable<
        string[]
      >) {
        for (const key of keys) if ((await this.redis.get(key))?.includes(userId)) await this.redis.del(key);
      }
    }
  }

  /** Deletes the events about the fan that the monolith has read. They have the session tokens. */
  private async eraseFromStreams(userId: string, matchIds: readonly string[]): Promise<void> {
    const cursors = await this.database.query<{ matchId: string; lastId: string }[]>(sql.STREAM_CURSORS, [matchIds]);
    for (const { matchId, lastId } of cursors) {
      const key = queueKeys.events(matchId);
      for (let from = '-'; ;) {
        const page = await this.redis.xrange(key, from, lastId, 'COUNT', STREAM_PAGE);
        const found = page.filter(([, fields]) => fields.some((field) => field.includes(userId))).map(([id]) => id);
        if (found.length > 0) await this.redis.xdel(key, ...found);
        if (page.length < STREAM_PAGE) break;
        from = `(${page.at(-1)![0]}`;
      }
    }
  }
}

function searched(due: readonly DueErasure[]): sql.SearchedTraces {
  const all = (kind: keyof TracesOfFan): string[] => due.flatMap(({ traces }) => traces[kind]);
  return {
    userIds: due.map(({ userId }) => userId),
    emails: all('emails'),
    ids: all('ids'),
    pushTokens: all('pushTokens'),
    codeParts: all('codeParts'),
  };
}

/** The fields of a mail or push that say to whom it goes. */
interface Addressed {
  readonly user_id?: string;
  readonly recipient?: string;
  readonly about?: { readonly order_id?: string };
}

function isAbout(payload: unknown, { userIds, emails, ids }: sql.SearchedTraces): boolean {
  const { user_id, recipient, about } = (payload ?? {}) as Addressed;
  return (
    (user_id !== undefined && userIds.includes(user_id.toLowerCase())) ||
    (recipient !== undefined && emails.includes(recipient.toLowerCase())) ||
    (about?.order_id !== undefined && ids.includes(about.order_id))
  );
}
