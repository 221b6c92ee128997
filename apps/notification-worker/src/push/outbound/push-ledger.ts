import { DEAD_TOKENS_EVENT, DEVICES_DESTINATION, type DeadTokens } from '#contracts/dead-tokens';
import type { Outbox } from '#application/outbox';
import type { TransactionManager } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import type { SingleStatements } from '#platform/postgres/single-statements';
import { inside } from '#platform/postgres/transaction';
import type { ProcessedMarks } from '#platform/redis/processed-marks';
import type { Counter } from 'prom-client';
import { CLAIM_PUSH, IS_PUSH_FINISHED, NOTE_PUSH_PROGRESS, type ClaimedPush } from './push-ledger.sql.ts';

/** The name under which marks and metrics know pushes; all lanes and providers share it. */
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

/** What has become known since the last note; indexes into the job's tokens. */
export interface Progress {
  readonly done: readonly number[];
  readonly deadTokens: readonly string[];
  readonly refused: number;
}

/**
 * The ledger of pushes: one row a job, the devices in it by their index. Claimed before the first request; noted while it goes
 * on; then finished, or released when some are left for another try.
 *
 *   claim ──▶ held by us ──note──▶ … ──▶ finished (all are done with)
 *                  │                └──▶ released (the rest is known not to have left, or counted)
 *                  └─ died, and the lock ran out ──▶ claimed by another: the rest of it may be sent twice, and is counted
 */
export class PushLedger {
  constructor(
    private readonly statements: SingleStatements,
    /** For what died, which is told in the same commit. */
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
    const lockSeconds = this.options.lockMs / 1000;
    const [claim] = await this.statements.rows<ClaimedPush>(
      CLAIM_PUSH.with({ messageId, broadcastId: broadcastId ?? null, devices, holder, lockSeconds }),
    );
    if (!claim) {
      const [other] = await this.statements.rows<{ finished: boolean }>(IS_PUSH_FINISHED.with({ messageId }));
      return { kind: other?.finished ? 'finished' : 'held' };
    }
    if (claim.left_behind) this.inDoubt(devices - claim.done.length);
    return { kind: 'claimed', holder, done: new Set(claim.done) };
  }

  /** Counts pushes that may reach their device twice. */
  inDoubt(pushes: number): void {
    if (pushes > 0) this.options.possibleDuplicates?.inc({ consumer: CONSUMER }, pushes);
  }

  /**
   * False: somebody else has taken the job over. What is told is kept even then: it is true. The tokens that died are told to
   * the fans' context in the same commit.
   */
  async note(messageId: string, holder: string, progress: Progress, then: 'go on' | 'finish' | 'release'): Promise<boolean> {
    const { done, deadTokens, refused } = progress;
    const indexes = `{${done.join(',')}}`;
    const statement = NOTE_PUSH_PROGRESS.with({ messageId, holder, done: indexes, dead: deadTokens.length, refused, next: then });
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
