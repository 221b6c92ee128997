import type { Counter } from 'prom-client';
import type { Logger } from '../logging/logger.ts';
import type { ProcessedMarks } from '../redis/processed-marks.ts';
import { KeyedBatcher } from '../keyed-batcher.ts';
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

/**
 * Automatic retries end within minutes. If an `uncertain` message is claimed again later than this, an operator retried it, and
 * the claim is granted.
 */
const OPERATOR_RETRY_AFTER_SECONDS = 600;

interface LedgerWrite {
  readonly messageId: string;
  readonly action: 'claim' | 'finish';
}

/**
 * Writes claims ($2) and finished sends ($3) of one batch in one upsert. Every row is found by its key, whatever plan the
 * planner chooses. A join was once planned as a scan of the whole ledger; at SERIALIZABLE each row that was read got a
 * predicate lock, until PostgreSQL had no memory left for them. An UPDATE for the finished sends would put predicate locks on
 * the index pages into which the next claims are inserted. `excluded.finished_at` is null for a claim.
 *
 * Usually all claims are granted. Then `claimed` is just 'all' instead of a list of keys. All claims of a statement have its
 * start time as `claimed_at`, which is also their token.
 */
const WRITE = `
  with written as (
    insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
    select $1, key, now(), finish_at, 1
    from (select key, null::timestamptz as finish_at from string_to_table($2, E'\\t') key
          union all select key, now() from string_to_table($3, E'\\t') key) requested order by key
    on conflict (consumer, message_id) do update set
      finished_at = excluded.finished_at,
      claimed_at = case when excluded.finished_at is null then now() else inbox.claimed_at end,
      attempts = case when excluded.finished_at is null then least($4, inbox.attempts + 1) else inbox.attempts end
    where inbox.finished_at is null and (excluded.finished_at is not null
      or (inbox.attempts < $4 or inbox.claimed_at < clock_timestamp() - make_interval(secs => ${OPERATOR_RETRY_AFTER_SECONDS}))
        and (inbox.claimed_at is null or inbox.claimed_at < clock_timestamp() - make_interval(secs => $5)))
    returning message_id as key, finished_at is null as is_claim, attempts
  )
  select case when count(*) filter (where is_claim) < $6 then string_agg(key, E'\\t') filter (where is_claim) else 'all' end as claimed,
         string_agg(key, E'\\t') filter (where is_claim and attempts > 1) as again, now()::text as token
  from written`;

interface WriteResult {
  /** 'all', or the ids that were claimed, separated by tabs; null when none was claimed. */
  readonly claimed: string | null;
  /** The ids that were claimed a second time, separated by tabs. */
  readonly again: string | null;
  readonly token: string;
}

/** Reads why claims were not granted. One scalar subquery per id, because a subquery cannot be planned as a join. */
const READ_KINDS = `
  select requested.id as "messageId",
         (select case when finished_at is not null then 'finished'
                      when claimed_at < clock_timestamp() - make_interval(secs => $3) then 'uncertain' else 'held' end
          from inbox where inbox.consumer = $1 and inbox.message_id = requested.id) as kind
  from string_to_table($2, E'\\t') as requested (id)`;

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
    await this.statements.rows(
      `update inbox set claimed_at = null, attempts = attempts - 1
       where consumer = $1 and message_id = $2 and claimed_at = $3::timestamptz and finished_at is null`,
      [this.options.consumer, messageId, token],
    );
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
    const finished = idsOf(batch, 'finish');
    const values = [consumer, claims.join('\t'), finished.join('\t'), MAX_UNKNOWN_SENDS, lockMs / 1000, claims.length];
    const [result] = await this.statements.rows<WriteResult>(WRITE, values);
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

  private async readKinds(messageIds: readonly string[]): Promise<ReadonlyMap<string, 'finished' | 'held' | 'uncertain'>> {
    if (messageIds.length === 0) return new Map();
    const values = [this.options.consumer, messageIds.join('\t'), this.options.lockMs / 1000];
    const rows = await this.statements.rows<{ messageId: string; kind: 'finished' | 'held' | 'uncertain' }>(READ_KINDS, values);
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
