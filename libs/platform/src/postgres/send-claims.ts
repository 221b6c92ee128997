import type { Counter } from 'prom-client';
import type { Logger } from '../logging/logger.ts';
import type { ProcessedMarks } from '../redis/processed-marks.ts';
import { KeyedBatcher } from '../keyed-batcher.ts';
import { READ_CLAIM_KINDS, RELEASE_CLAIM, WRITE_CLAIMS, type ClaimKind, type WriteResult } from './send-claims.sql.ts';
import type { SingleStatements } from './single-statements.ts';

/** Batches in progress at the same time: while one waits for the disk, the next one is written. */
const MAX_PARALLEL_BATCHES = 2;
/** Maximum attempts of a send whose outcome is unknown: the first one and one more. */
const MAX_UNKNOWN_SENDS = 2;
/** Delay before a finish that could not be persisted is written again. */
const FINISH_RETRY_MS = 1000;
/** Maximum time that a stopping process waits until all finished sends are persisted. */
const SETTLE_TIMEOUT_MS = 5000;

export type Claim =
  | { readonly kind: 'claimed'; readonly token: string; readonly possibleDuplicate: boolean }
  /** The message was sent. */
  | { readonly kind: 'finished' }
  /** Another claim is in progress: the message is probably being sent right now. */
  | { readonly kind: 'held' }
  /** Tried twice, and the outcome of both attempts is unknown. */
  | { readonly kind: 'uncertain' };

export interface SendClaimOptions {
  /** The consumer's name in the column `inbox.consumer`. */
  readonly consumer: string;
  /** How long a claim blocks others. Longer than any send takes, and not longer than the delay before the first retry. */
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
 * Claims for sends that a rollback cannot undo (mail, push). Claims and finished sends that arrive at the same moment share one
 * statement.
 */
export class SendClaims {
  private readonly writes = new KeyedBatcher<LedgerWrite, Claim>(keyOf, (batch) => this.writeBatch(batch), {
    rounds: MAX_PARALLEL_BATCHES,
  });
  private readonly marks: KeyedBatcher<string, void>;
  /** Completed sends not yet persisted in PostgreSQL. */
  private readonly unpersisted = new Set<string>();
  private isStopped = false;
  private whenPersisted: () => void = () => undefined;

  constructor(
    private readonly statements: SingleStatements,
    private readonly options: SendClaimOptions,
  ) {
    this.marks = new KeyedBatcher<string, void>(
      (messageId) => messageId,
      async (messageIds) => {
        await options.marks?.addAll(options.consumer, messageIds);
        return messageIds.map(() => undefined);
      },
    );
  }

  async claim(messageId: string): Promise<Claim> {
    if (UNSUPPORTED_CHARACTERS.test(messageId)) throw new Error('A message id must not contain a tab, a line break or NUL.');
    if (this.unpersisted.has(messageId)) return FINISHED;
    const claim = await this.writes.add({ messageId, action: 'claim' });
    if (claim.kind === 'claimed' && claim.possibleDuplicate)
      this.options.possibleDuplicates?.inc({ consumer: this.options.consumer });
    return claim;
  }

  /**
   * Records that the message was sent, even if another process holds the claim by now. It does not wait for the database: the
   * job may end earlier, and the worker needs only half as many parallel jobs. The mark in Redis is set at once; the row is
   * written until PostgreSQL has it. If the process dies before that, the claim stays open. The next claim then finds the mark,
   * or counts a possible duplicate.
   */
  finish(messageId: string): void {
    this.unpersisted.add(messageId);
    void this.marks.add(messageId);
    this.persistFinish(messageId);
  }

  /**
   * Records that the message was certainly not sent, so that the next claim is no possible duplicate. Changes nothing when
   * another claim has replaced the one with this token.
   */
  async release(messageId: string, token: string): Promise<void> {
    await this.statements.rows(RELEASE_CLAIM.with({ consumer: this.options.consumer, messageId, token }));
  }

  /** Resolves when all finished sends are persisted, or after `timeoutMs`, because a stopping process cannot wait longer. */
  async settled(timeoutMs = SETTLE_TIMEOUT_MS): Promise<void> {
    if (this.unpersisted.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([new Promise<void>((resolve) => (this.whenPersisted = resolve)), timeout]);
    clearTimeout(timer);
    this.isStopped = true;
    if (this.unpersisted.size > 0)
      this.options.logger?.warn({ messages: this.unpersisted.size }, 'messages were sent, but PostgreSQL could not record it');
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
   * A message with a mark in Redis was sent, even if its row does not say so: PostgreSQL was unavailable at that moment or was
   * restored from an older backup. Such a claim is turned into a finished send. Claims are written and marks are read at the
   * same time, because a mark is rarely found.
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
    const [result] = await this.statements.rows<WriteResult>(
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

  private async readKinds(messageIds: readonly string[]): Promise<ReadonlyMap<string, ClaimKind['kind']>> {
    if (messageIds.length === 0) return new Map();
    const { consumer, lockMs } = this.options;
    const statement = READ_CLAIM_KINDS.with({ consumer, messageIds: messageIds.join('\t'), lockSeconds: lockMs / 1000 });
    const rows = await this.statements.rows<ClaimKind>(statement);
    return new Map(rows.map(({ messageId, kind }) => [messageId, kind]));
  }
}

const FINISHED: Claim = { kind: 'finished' };

/**
 * Our own ids never contain these characters, but a job that was added by hand may. The lists of ids are separated by tabs, and
 * PostgreSQL would refuse the whole batch because of one NUL.
 */
const UNSUPPORTED_CHARACTERS = /[\t\n\0]/;

function keyOf({ messageId }: LedgerWrite): string {
  return messageId;
}

const idsOf = (batch: readonly LedgerWrite[], action: LedgerWrite['action']): string[] =>
  batch.filter((write) => write.action === action).map(({ messageId }) => messageId);

const setOf = (list: string | null): ReadonlySet<string> => new Set(list === null ? [] : list.split('\t'));
