import { DEAD_TOKENS_EVENT, DEVICES_DESTINATION, type DeadTokens } from '#contracts/dead-tokens';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import type { SingleStatements } from '#platform/postgres/single-statements';
import { inside } from '#platform/postgres/transaction';
import type { ProcessedMarks } from '#messaging/inbox/processed-marks';
import type { Counter } from 'prom-client';
import { CLAIM_PUSH, IS_PUSH_FINISHED, RECORD_PUSH_PROGRESS, type ClaimedPush } from './push-ledger.sql.ts';

/** The consumer name of pushes in marks and metrics, the same for both queues and all providers. */
const CONSUMER = 'push';

/** The answer to a claim of a push job. */
export type PushClaim =
  | { readonly kind: 'finished' }
  /** Another worker has claimed the job. */
  | { readonly kind: 'held' }
  /** Claimed by the caller. `holder` is the id of the claim, `done` the indexes of the devices that need no request any more. */
  | { readonly kind: 'claimed'; readonly holder: string; readonly done: ReadonlySet<number> };

/** Results of a push job's requests since its progress was last recorded. */
export interface Progress {
  /** Devices with a final result, as indexes into the job's list of tokens. */
  readonly done: readonly number[];
  readonly deadTokens: readonly string[];
  /** Number of devices whose push the provider refused. */
  readonly refused: number;
}

/**
 * The ledger of pushes in PostgreSQL records which pushes were sent. Each push job is one row with the indexes of its finished
 * devices. A job is claimed before its first request, and its progress is recorded during the sending. After that it is finished,
 * or released if devices remain for a retry.
 *
 *   claim ──▶ held ────────recordProgress──▶ … ──▶ finished (all devices have a final result)
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

  /** Claims the push job of a message. `devices`: the number of devices of the job. */
  async claim(messageId: string, devices: number, broadcastId: string | null = null): Promise<PushClaim> {
    if (await this.options.marks?.has(CONSUMER, messageId)) return { kind: 'finished' };
    const holder = newId();
    const lockSeconds = this.options.lockMs / 1000;
    const statement = CLAIM_PUSH.with({ messageId, broadcastId, devices, holder, lockSeconds });
    const [claim] = await this.statements.rows<ClaimedPush>(statement);
    if (!claim) {
      const [other] = await this.statements.rows<{ finished: boolean }>(IS_PUSH_FINISHED.with({ messageId }));
      return { kind: other?.finished ? 'finished' : 'held' };
    }
    if (claim.was_abandoned) this.countPossibleDuplicates(devices - claim.done.length);
    return { kind: 'claimed', holder, done: new Set(claim.done) };
  }

  /** Adds to the metric of possible duplicates: pushes that may reach their device twice. */
  countPossibleDuplicates(pushes: number): void {
    if (pushes > 0) this.options.possibleDuplicates?.inc({ consumer: CONSUMER }, pushes);
  }

  /**
   * Stores results of requests. Returns false if another worker has taken over the job; the results are stored even then, because
   * the requests were sent. If there are dead tokens, a message that reports them to the fans' context commits with the results.
   */
  async recordProgress(
    messageId: string,
    holder: string,
    progress: Progress,
    then: 'continue' | 'finish' | 'release',
  ): Promise<boolean> {
    const { done, deadTokens, refused } = progress;
    const results = { done: `{${done.join(',')}}`, dead: deadTokens.length, refused };
    const statement = RECORD_PUSH_PROGRESS.with({ messageId, holder, ...results, next: then });
    try {
      const [row] =
        deadTokens.length === 0
          ? await this.statements.rows<{ ours: boolean }>(statement)
          : await this.transactions.run(async (tx) => {
              await this.outbox.append(tx, [deadTokensMessage(deadTokens)]);
              return inside(tx).rows<{ ours: boolean }>(statement);
            });
      return row?.ours === true;
    } finally {
      if (then === 'finish') void this.options.marks?.add(CONSUMER, messageId);
    }
  }
}

function deadTokensMessage(tokens: readonly string[]): OutboxMessage {
  const body: DeadTokens = { fcm_tokens: [...tokens], found_at: new Date().toISOString() };
  return { id: newId(), destination: DEVICES_DESTINATION, event: DEAD_TOKENS_EVENT, body };
}
