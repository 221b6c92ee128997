import { DEAD_TOKENS_EVENT, DEVICES_DESTINATION, type DeadTokens } from '#contracts/dead-tokens';
import type { Outbox } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import type { SingleStatements } from '#platform/postgres/single-statements';
import { inside } from '#platform/postgres/transaction';
import type { ProcessedMarks } from '#platform/redis/processed-marks';
import type { Counter } from 'prom-client';

/** The consumer name of pushes in marks and metrics, the same for both queues and all providers. */
const CONSUMER = 'push';

export interface PushToClaim {
  readonly messageId: string;
  readonly broadcastId?: string;
  readonly devices: number;
}

export type PushClaim =
  | { readonly kind: 'finished' }
  | { readonly kind: 'held' }
  | { readonly kind: 'claimed'; readonly holder: string; readonly done: ReadonlySet<number> };

/** The results since the progress was last recorded. */
export interface Progress {
  /** Indexes into the job's tokens of devices with a final result. */
  readonly done: readonly number[];
  readonly deadTokens: readonly string[];
  readonly refused: number;
}

/**
 * Claims a job that is new, released, or whose holder's lock has expired. One statement, so one round trip with its
 * transaction.
 */
const CLAIM = `
  insert into push_progress (message_id, broadcast_id, devices, holder, claimed_at)
  values ($1, $2, $3, $4, clock_timestamp())
  on conflict (message_id) do update set holder = excluded.holder, claimed_at = clock_timestamp()
  where push_progress.finished_at is null
    and (push_progress.holder is null or push_progress.claimed_at < clock_timestamp() - make_interval(secs => $5))
  returning done, coalesce(old.holder is not null, false) as was_abandoned`;

const READ_FINISHED = 'select finished_at is not null as finished from push_progress where message_id = $1';

const RECORD_PROGRESS = `
  update push_progress set
    done = case when done = '{}' then $3::smallint[]
                else done || array(select unnest($3::smallint[]) except select unnest(done)) end,
    dead = dead + $4, refused = refused + $5,
    finished_at = case when $6 = 'finish' then clock_timestamp() else finished_at end,
    claimed_at = case when holder = $2 then clock_timestamp() else claimed_at end,
    holder = case when $6 = 'continue' or holder <> $2 then holder end
  where message_id = $1 returning old.holder = $2 as ours`;

/**
 * The ledger of pushes in PostgreSQL. Each job is one row with the indexes of its finished devices. A job is claimed before its
 * first request, its progress is recorded during the sending, and then it is finished, or released if devices remain for a retry.
 *
 *   claim ──▶ held by us ──recordProgress──▶ … ──▶ finished (all devices have a final result)
 *                  │                          └──▶ released (the other devices got no push, or are counted as possible duplicates)
 *                  └─ holder died and its lock expired ──▶ claimed by another worker: open devices count as possible duplicates
 */
export class PushLedger {
  constructor(
    private readonly statements: SingleStatements,
    /** Only for progress with dead tokens: the message about them is committed with the progress. */
    private readonly transactions: TransactionManager,
    private readonly outbox: Outbox,
    private readonly options: {
      readonly lockMs: number;
      readonly marks?: ProcessedMarks;
      readonly possibleDuplicates?: Pick<Counter<'consumer'>, 'inc'>;
    },
  ) {}

  async claim({ messageId, broadcastId, devices }: PushToClaim): Promise<PushClaim> {
    if (await this.options.marks?.has(CONSUMER, messageId)) return { kind: 'finished' };
    const holder = newId();
    const [claim] = await this.statements.rows<{ done: number[]; was_abandoned: boolean }>(CLAIM, [
      messageId,
      broadcastId ?? null,
      devices,
      holder,
      this.options.lockMs / 1000,
    ]);
    if (!claim) {
      const [other] = await this.statements.rows<{ finished: boolean }>(READ_FINISHED, [messageId]);
      return { kind: other?.finished ? 'finished' : 'held' };
    }
    if (claim.was_abandoned) this.countPossibleDuplicates(devices - claim.done.length);
    return { kind: 'claimed', holder, done: new Set(claim.done) };
  }

  /** Counts pushes that may reach their device twice. */
  countPossibleDuplicates(pushes: number): void {
    if (pushes > 0) this.options.possibleDuplicates?.inc({ consumer: CONSUMER }, pushes);
  }

  /**
   * Stores results. Returns false if another worker has taken over the job; the results are stored even then, because they are
   * true. A message with the dead tokens for the fans' context is committed together with the results.
   */
  async recordProgress(
    messageId: string,
    holder: string,
    progress: Progress,
    then: 'continue' | 'finish' | 'release',
  ): Promise<boolean> {
    const { done, deadTokens, refused } = progress;
    // The array as text. The driver would write the same text, but more slowly, because it checks each number for quotes.
    const parameters = [messageId, holder, `{${done.join(',')}}`, deadTokens.length, refused, then];
    try {
      const [row] =
        deadTokens.length === 0
          ? await this.statements.rows<{ ours: boolean }>(RECORD_PROGRESS, parameters)
          : await this.transactions.run(async (tx) => {
              await this.outbox.append(tx, [deadTokensMessage(deadTokens)]);
              return inside(tx).rows<{ ours: boolean }>(RECORD_PROGRESS, parameters);
            });
      return row?.ours === true;
    } finally {
      if (then === 'finish') void this.options.marks?.add(CONSUMER, messageId);
    }
  }
}

function deadTokensMessage(tokens: readonly string[]): {
  id: string;
  destination: string;
  event: string;
  body: DeadTokens;
} {
  return {
    id: newId(),
    destination: DEVICES_DESTINATION,
    event: DEAD_TOKENS_EVENT,
    body: { fcm_tokens: [...tokens], found_at: new Date().toISOString() },
  };
}
