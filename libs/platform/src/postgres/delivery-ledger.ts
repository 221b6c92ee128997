import type { Transaction, TransactionManager } from '#application/transaction-manager';
import { DomainError } from '#domain/shared/domain-error';
import type { Counter } from 'prom-client';
import type { ProcessedMarks } from '../redis/processed-marks.ts';
import type { SingleStatements } from './single-statements.ts';
import { isConnectionLoss } from './sqlstates.ts';
import { Together } from '../together.ts';
import { inside } from './transaction.ts';

/*
 * Messages arrive at least once; what they cause happens once. The truth is the table `inbox`, one row per consumer and
 * message, in one of two ways:
 *
 *   effect in PostgreSQL     Inbox.once        row and effect commit together: exactly once
 *   send to the outside      SendClaims        claim → send → finish; known not sent: release
 *
 *   A claim that nobody finished may have been sent and may not. After `lockMs` it may be claimed again, once, and that is
 *   counted as a possible duplicate; a second time it is `uncertain` and people decide: sent back by them after ten minutes,
 *   it is claimed once more.
 *
 *     (none) ──claim──▶ held ──finish──▶ finished
 *       ▲                │ ▲ lock over: claimed again, once
 *       └────release─────┘ └──────────────▶ uncertain
 */

/** For consumers whose whole effect is in our own PostgreSQL. */
export class Inbox {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly marks?: ProcessedMarks,
  ) {}

  /** Runs `work` in the transaction that remembers the message, or not at all when it is remembered already. */
  async once(consumer: string, messageId: string, work: (tx: Transaction) => Promise<void>): Promise<'done' | 'duplicate'> {
    if (await this.marks?.has(consumer, messageId)) return 'duplicate';
    const outcome = await this.transactions.run(async (tx) => {
      if (!(await this.remember(tx, consumer, messageId))) return 'duplicate';
      await work(tx);
      return 'done';
    });
    await this.marks?.add(consumer, messageId);
    return outcome;
  }

  /** False when somebody else already did the work. Two at once: the second one waits for the first one's commit. */
  protected async remember(tx: Transaction, consumer: string, messageId: string): Promise<boolean> {
    const rows = await inside(tx).rows(
      `insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
       values ($1, $2, clock_timestamp(), clock_timestamp(), 1)
       on conflict (consumer, message_id) do update set finished_at = excluded.finished_at
       where inbox.finished_at is null
       returning true as mine`,
      [consumer, messageId],
    );
    return rows.length > 0;
  }
}

/** While one waits for the disk, the next ones are written: one for each connection of `SingleStatements`. */
const ROUNDS = 2;

/** How often a send with an unknown outcome may be tried: the first time and once more. */
const MAX_UNKNOWN_SENDS = 2;

export type Claim =
  | { readonly kind: 'claimed'; readonly token: string; readonly possibleDuplicate: boolean }
  /** It left; nothing to do. */
  | { readonly kind: 'finished' }
  /** Somebody is sending it this moment. */
  | { readonly kind: 'held' }
  /** Tried twice, and nobody knows how either ended. */
  | { readonly kind: 'uncertain' };

export interface SendClaimOptions {
  /** Longer than any send takes, and no longer than the first retry waits. */
  readonly lockMs: number;
  readonly marks?: ProcessedMarks;
  readonly possibleDuplicates?: Pick<Counter<'consumer'>, 'inc'>;
}

/**
 * Jobs retry by themselves within minutes. A message that is `uncertain` and comes again after so long was sent back by a
 * person, who has decided.
 */
const DECIDED_AFTER_SECONDS = 600;

interface Message {
  readonly consumer: string;
  readonly messageId: string;
}

type Asked = Message & { readonly wants: 'claim' | 'finish' };

/**
 * By key, all of it: whatever the planner believes about the table, it reads the rows that are named and no others. A join
 * was once planned as a walk through the whole ledger, and at SERIALIZABLE every row it met was watched, until PostgreSQL had
 * no room left to remember them. `excluded.finished_at` tells the ends from the claims.
 *
 * Asked with lists of keys and answered with one row of them: a row and three array elements for each message cost both sides
 * a fifth of what the writing costs. All claims of a statement have the time of its beginning, which is their token.
 */
const WRITE = `
  with written as (
    insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
    select split_part(key, E'\\n', 1), split_part(key, E'\\n', 2), now(), end_at, 1
    from (select key, null::timestamptz as end_at from string_to_table($1, E'\\t') key
          union all select key, now() from string_to_table($2, E'\\t') key) asked order by key
    on conflict (consumer, message_id) do update set
      finished_at = excluded.finished_at,
      claimed_at = case when excluded.finished_at is null then now() else inbox.claimed_at end,
      attempts = case when excluded.finished_at is null then least($3, inbox.attempts + 1) else inbox.attempts end
    where inbox.finished_at is null and (excluded.finished_at is not null
      or (inbox.attempts < $3 or inbox.claimed_at < clock_timestamp() - make_interval(secs => ${DECIDED_AFTER_SECONDS}))
        and (inbox.claimed_at is null or inbox.claimed_at < clock_timestamp() - make_interval(secs => $4)))
    returning consumer || E'\\n' || message_id as key, finished_at is null as is_claim, attempts
  )
  select coalesce(string_agg(key, E'\\t') filter (where is_claim), '') as claimed,
         coalesce(string_agg(key, E'\\t') filter (where is_claim and attempts > 1), '') as again, now()::text as token
  from written`;

interface Written {
  readonly claimed: string;
  readonly again: string;
  readonly token: string;
}

/** A scalar question each, which cannot be planned as a join. */
const LOOK = `
  select consumer, message_id as "messageId",
         (select case when finished_at is not null then 'finished'
                      when claimed_at < clock_timestamp() - make_interval(secs => $3) then 'uncertain' else 'held' end
          from inbox where inbox.consumer = asked.consumer and inbox.message_id = asked.message_id) as kind
  from unnest($1::text[], $2::text[]) as asked (consumer, message_id)`;

/** For sends that PostgreSQL cannot take back. What many senders ask at the same moment, begin or end, is one statement. */
export class SendClaims {
  private readonly asked = new Together<Asked, Claim>(keyOf, (all) => this.round(all), { rounds: ROUNDS });
  private readonly marked: Together<Message, void>;

  constructor(
    private readonly statements: SingleStatements,
    private readonly options: SendClaimOptions,
  ) {
    this.marked = new Together<Message, void>(keyOf, async (messages) => {
      await options.marks?.addAll(messages);
      return messages.map(() => undefined);
    });
  }

  async claim(consumer: string, messageId: string): Promise<Claim> {
    if (BREAKS.test(messageId)) throw new Error('an id of one line was expected');
    const claim = await this.asked.add({ consumer, messageId, wants: 'claim' });
    if (claim.kind === 'claimed' && claim.possibleDuplicate) this.options.possibleDuplicates?.inc({ consumer });
    return claim;
  }

  /** It left, whoever's claim stands by now. The mark is set even when PostgreSQL is away: it is true all the same. */
  async finish(consumer: string, messageId: string): Promise<void> {
    try {
      await this.asked.add({ consumer, messageId, wants: 'finish' });
    } finally {
      // Nobody waits for it: the row is the truth, and the mark never fails louder than by not being there.
      void this.marked.add({ consumer, messageId });
    }
  }

  /** It certainly did not leave: the next claim is no duplicate. Changes nothing when the claim is no longer ours. */
  async release(consumer: string, messageId: string, token: string): Promise<void> {
    await this.statements.rows(
      `update inbox set claimed_at = null, attempts = attempts - 1
       where consumer = $1 and message_id = $2 and claimed_at = $3::timestamptz and finished_at is null`,
      [consumer, messageId, token],
    );
  }

  /**
   * A message with a mark has left, though the row does not say so: PostgreSQL was away at that moment, or was set back to a
   * backup of before. Its claim becomes its end. Both are asked at the same time: there is hardly ever one.
   */
  private async round(asked: readonly Asked[]): Promise<Claim[]> {
    const claims = asked.filter(({ wants }) => wants === 'claim');
    const looking = claims.length > 0 ? this.options.marks?.hasAll(claims) : undefined;
    const answers = await this.write(asked);
    const isMarked = (await looking) ?? [];
    const left = claims.filter((_, index) => isMarked[index]).map((one): Asked => ({ ...one, wants: 'finish' }));
    if (left.length === 0) return answers;
    await this.write(left);
    const keys = new Set(left.map(keyOf));
    return asked.map((one, index): Claim => (keys.has(keyOf(one)) ? { kind: 'finished' } : (answers[index] as Claim)));
  }

  private async write(asked: readonly Asked[]): Promise<Claim[]> {
    const lockSeconds = this.options.lockMs / 1000;
    const [written] = await this.statements.rows<Written>(WRITE, [
      keysOf(asked, 'claim'),
      keysOf(asked, 'finish'),
      MAX_UNKNOWN_SENDS,
      lockSeconds,
    ]);
    const [claimed, again] = [keysIn(written?.claimed), keysIn(written?.again)];
    const others = asked.filter((one) => one.wants === 'claim' && !claimed.has(keyOf(one)));
    const kinds = new Map<string, 'finished' | 'held' | 'uncertain'>();
    if (others.length > 0) {
      const rows = await this.statements.rows<Message & { kind: 'finished' | 'held' | 'uncertain' }>(LOOK, [
        ...listsOf(others),
        lockSeconds,
      ]);
      for (const row of rows) kinds.set(keyOf(row), row.kind);
    }
    return asked.map((one): Claim => {
      if (one.wants === 'finish') return { kind: 'finished' };
      const key = keyOf(one);
      if (claimed.has(key)) return { kind: 'claimed', token: written?.token ?? '', possibleDuplicate: again.has(key) };
      return { kind: kinds.get(key) ?? 'held' };
    });
  }
}

const keysOf = (asked: readonly Asked[], what: Asked['wants']): string =>
  asked
    .filter(({ wants }) => wants === what)
    .map(keyOf)
    .join('\t');

/** Ids of ours have none; of a job that was put in by hand nothing is known. */
const BREAKS = /[\t\n]/;

const keysIn = (list = ''): ReadonlySet<string> => new Set(list === '' ? [] : list.split('\t'));

const keyOf = ({ consumer, messageId }: Message): string => `${consumer}\n${messageId}`;

const listsOf = (messages: readonly Message[]): [string[], string[]] => [
  messages.map(({ consumer }) => consumer),
  messages.map(({ messageId }) => messageId),
];

/**
 * PostgreSQL is away, full, or broke off while committing. It says nothing about the message, and because of the row in the
 * inbox it does no harm to let it come again.
 */
export function isLedgerOutage(error: unknown): boolean {
  if (isConnectionLoss(error)) return true;
  if (error instanceof DomainError) return error.code === 'OUTCOME_UNKNOWN';
  return error instanceof Error && /timeout exceeded when trying to connect|Query read timeout/.test(error.message);
}
