import type { Counter } from 'prom-client';
import type { Logger } from '#platform/logging/logger';
import type { ProcessedMarks } from './processed-marks.ts';
import { Batcher } from '#platform/batching/batcher';
import { waitAtMost } from '#platform/wait-at-most';
import { READ_CLAIM_KINDS, RELEASE_CLAIM, WRITE_CLAIMS, type RefusedClaim, type WrittenClaims } from './send-claims.sql.ts';
import type { SingleStatements } from '#platform/postgres/single-statements';

/** Number of batches in progress at the same time: while one waits for PostgreSQL's disk, the next one is sent. */
const MAX_PARALLEL_BATCHES = 2;
/** Maximum number of claims of a message while it is unknown whether it was sent: the first claim and a second one. */
const MAX_UNKNOWN_SENDS = 2;
/**
 * How long a finish waits at most, so that several share a statement. The mark in Redis does not wait: with it a worker that dies
 * meanwhile leaves no doubt that the message was sent.
 */
const FINISH_DELAY_MS = 100;
/** Delay before a finish (the record that a message was sent) is written again after PostgreSQL could not store it. */
const FINISH_RETRY_MS = 1000;
/** Maximum time that a stopping process waits until all finished sends are stored in PostgreSQL. */
const SETTLE_TIMEOUT_MS = 5000;

/** The answer to a claim of a message. */
export type Claim =
  /** The caller must send the message now. `possibleDuplicate`: an earlier claim may have sent it. */
  | { readonly kind: 'claimed'; readonly token: string; readonly possibleDuplicate: boolean }
  /** The message was already sent. */
  | { readonly kind: 'finished' }
  /** Another claim is in progress: the message is probably being sent right now. */
  | { readonly kind: 'held' }
  /** The message was claimed twice, and it is unknown whether one of the claims sent it. An operator decides. */
  | { readonly kind: 'uncertain' };

/** Which consumer's sends are claimed, how long a claim lasts, and how often a send with an unknown outcome is repeated. */
export interface SendClaimOptions {
  /** The consumer's name in the column `inbox.consumer`. */
  readonly consumer: string;
  /** How long a claim blocks other claims. Longer than any send takes, and not longer than the delay before the first retry. */
  readonly lockMs: number;
  readonly marks?: ProcessedMarks;
  readonly possibleDuplicates?: Pick<Counter<'consumer'>, 'inc'>;
  readonly logger?: Pick<Logger, 'warn'>;
}

interface LedgerWrite {
  readonly messageId: string;
  readonly action: 'claim' | 'finish';
}

/**
 * The ledger of sends that a rollback cannot undo (mail, push): a worker claims a message, sends it, and records the claim as
 * finished. Claims that arrive at the same moment share one statement, and finished sends wait for it a moment.
 */
export class SendClaims {
  private readonly writes = new Batcher<LedgerWrite, Claim>((batch) => this.writeBatch(batch), {
    maxInProgress: MAX_PARALLEL_BATCHES,
    keyOf: ({ messageId }) => messageId,
    startWith: queueMicrotask,
  });
  private readonly marks: Batcher<string, void>;
  /** Ids of messages whose send is finished but not yet stored in PostgreSQL. */
  private readonly unpersisted = new Set<string>();
  private readonly delayedFinishes: string[] = [];
  private finishTimer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private whenPersisted: () => void = () => undefined;

  constructor(
    private readonly statements: SingleStatements,
    private readonly options: SendClaimOptions,
  ) {
    this.marks = new Batcher<string, void>(
      async (messageIds) => {
        await options.marks?.addAll(options.consumer, messageIds);
        return messageIds.map(() => undefined);
      },
      { keyOf: (messageId) => messageId, startWith: queueMicrotask },
    );
  }

  /** Claims a message. The caller may send it only if the answer is `claimed`. */
  async claim(messageId: string): Promise<Claim> {
    if (UNSUPPORTED_CHARACTERS.test(messageId)) throw new Error('A message id must not contain a tab, a line break or NUL.');
    if (this.unpersisted.has(messageId)) return FINISHED;
    this.persistDelayedFinishes();
    const claim = await this.writes.add({ messageId, action: 'claim' });
    if (claim.kind === 'claimed' && claim.possibleDuplicate)
      this.options.possibleDuplicates?.inc({ consumer: this.options.consumer });
    return claim;
  }

  /**
   * Records that the message was sent, even if another process holds the claim by now. It does not wait for PostgreSQL: so
   * the job ends earlier, and the worker needs only half as many parallel jobs. The message's mark in Redis is set at once; the
   * write of its row is repeated until PostgreSQL has stored it. If the process dies before that, the claim stays open. The next
   * claim of the message then finds the mark, or counts a possible duplicate.
   */
  finish(messageId: string): void {
    this.unpersisted.add(messageId);
    void this.marks.add(messageId);
    this.delayedFinishes.push(messageId);
    this.finishTimer ??= setTimeout(() => this.persistDelayedFinishes(), FINISH_DELAY_MS).unref();
  }

  /**
   * Records that the message was certainly not sent, so that the next claim is no possible duplicate. Changes nothing when
   * a newer claim of the message has another token.
   */
  async release(messageId: string, token: string): Promise<void> {
    await this.statements.rows(RELEASE_CLAIM.with({ consumer: this.options.consumer, messageId, token }));
  }

  /** Resolves when all finished sends are stored in PostgreSQL, at the latest after `timeoutMs`. For a process that stops. */
  async settled(timeoutMs = SETTLE_TIMEOUT_MS): Promise<void> {
    if (this.unpersisted.size === 0) return;
    const persisted = new Promise<void>((resolve) => (this.whenPersisted = resolve));
    this.persistDelayedFinishes();
    await waitAtMost(timeoutMs, persisted, undefined);
    this.isStopped = true;
    if (this.unpersisted.size > 0)
      this.options.logger?.warn({ messages: this.unpersisted.size }, 'messages were sent, but PostgreSQL could not record it');
  }

  private persistDelayedFinishes(): void {
    clearTimeout(this.finishTimer);
    this.finishTimer = undefined;
    for (const messageId of this.delayedFinishes.splice(0)) this.persistFinish(messageId);
  }

  private persistFinish(messageId: string): void {
    this.writes.add({ messageId, action: 'finish' }).then(
      () => {
        this.unpersisted.delete(messageId);
        if (this.unpersisted.size === 0) this.whenPersisted();
      },
      () => {
        // A stopping process waits in `settled`. This timer must not keep it alive.
        if (!this.isStopped) setTimeout(() => this.persistFinish(messageId), FINISH_RETRY_MS).unref();
      },
    );
  }

  /**
   * Writes a batch of claims and finished sends. A message with a mark in Redis was sent, even if its row does not say so:
   * PostgreSQL was unavailable when it was sent, or was restored from an older backup. The claim of such a message is turned into
   * a finished send. Claims are written and marks are read at the same time, because a mark is rarely found.
   */
  private async writeBatch(batch: readonly LedgerWrite[]): Promise<Claim[]> {
    const { marks, consumer } = this.options;
    const claims = idsOf(batch, 'claim');
    const readingMarks = claims.length > 0 ? marks?.allOf(consumer, claims) : undefined;
    const answers = await this.write(batch, claims);
    const marked = await readingMarks;
    if (!marked || marked.size === 0) return answers;
    await this.write([...marked].map((messageId) => ({ messageId, action: 'finish' })));
    return answers.map((answer, index) => (marked.has(batch[index]?.messageId ?? '') ? FINISHED : answer));
  }

  private async write(batch: readonly LedgerWrite[], claims: readonly string[] = []): Promise<Claim[]> {
    const { consumer, lockMs } = this.options;
    const [result] = await this.statements.rows<WrittenClaims>(
      WRITE_CLAIMS.with({
        consumer,
        claims: claims.join('\t'),
        finishes: idsOf(batch, 'finish').join('\t'),
        maxUnknownSends: MAX_UNKNOWN_SENDS,
        lockSeconds: lockMs / 1000,
        claimCount: claims.length,
      }),
    );
    const { claimed = null, again = null, token = '' } = result ?? {};
    const granted: Claim = { kind: 'claimed', token, possibleDuplicate: false };
    if (claimed === 'all' && again === null) return batch.map(({ action }) => (action === 'claim' ? granted : FINISHED));
    const [claimedIds, claimedAgainIds] = [setOf(claimed === 'all' ? claims.join('\t') : claimed), setOf(again)];
    const kinds = await this.readKinds(claims.filter((messageId) => !claimedIds.has(messageId)));
    return batch.map(({ messageId, action }): Claim => {
      if (action === 'finish') return FINISHED;
      if (claimedAgainIds.has(messageId)) return { kind: 'claimed', token, possibleDuplicate: true };
      return claimedIds.has(messageId) ? granted : { kind: kinds.get(messageId) ?? 'held' };
    });
  }

  private async readKinds(messageIds: readonly string[]): Promise<ReadonlyMap<string, RefusedClaim['kind']>> {
    if (messageIds.length === 0) return new Map();
    const { consumer, lockMs } = this.options;
    const statement = READ_CLAIM_KINDS.with({ consumer, messageIds: messageIds.join('\t'), lockSeconds: lockMs / 1000 });
    const rows = await this.statements.rows<RefusedClaim>(statement);
    return new Map(rows.map(({ messageId, kind }) => [messageId, kind]));
  }
}

const FINISHED: Claim = { kind: 'finished' };

/**
 * Characters that a message id must not contain. Our own ids never do, but the id of a job that was added by hand may. Lists of
 * ids are separated by tabs, and PostgreSQL would refuse the whole batch because of one NUL.
 */
const UNSUPPORTED_CHARACTERS = /[\t\n\0]/;

const idsOf = (batch: readonly LedgerWrite[], action: LedgerWrite['action']): string[] =>
  batch.filter((write) => write.action === action).map(({ messageId }) => messageId);

const setOf = (list: string | null): ReadonlySet<string> => new Set(list === null ? [] : list.split('\t'));
