import type { Counter } from 'prom-client';
import type { Logger } from '../logging/logger.ts';
import type { ProcessedMarks } from '../redis/processed-marks.ts';
import { Together } from '../together.ts';
import type { SingleStatements } from './single-statements.ts';

/** While one waits for the disk, the next ones are written. */
const ROUNDS = 2;
/** How often a send with an unknown outcome may be tried: the first time and once more. */
const MAX_UNKNOWN_SENDS = 2;
/** An end that PostgreSQL did not take is said again after so long. */
const SAY_AGAIN_MS = 1000;
/** How long a process that stops waits until PostgreSQL has heard of all ends. */
const SETTLE_MS = 5000;

export type Claim =
  | { readonly kind: 'claimed'; readonly token: string; readonly possibleDuplicate: boolean }
  /** It left; nothing to do. */
  | { readonly kind: 'finished' }
  /** Somebody is sending it this moment. */
  | { readonly kind: 'held' }
  /** Tried twice, and nobody knows how either ended. */
  | { readonly kind: 'uncertain' };

export interface SendClaimOptions {
  /** Under which name the ledger knows whose messages these are. */
  readonly consumer: string;
  /** Longer than any send takes, and no longer than the first retry waits. */
  readonly lockMs: number;
  readonly marks?: ProcessedMarks;
  readonly possibleDuplicates?: Pick<Counter<'consumer'>, 'inc'>;
  readonly logger?: Pick<Logger, 'warn'>;
}

/**
 * Jobs retry by themselves within minutes. A message that is `uncertain` and comes again after so long was sent back by a
 * person, who has decided.
 */
const DECIDED_AFTER_SECONDS = 600;

interface Asked {
  readonly messageId: string;
  readonly wants: 'claim' | 'finish';
}

/**
 * By key, all of it: whatever the planner believes about the table, it reads the rows that are named and no others. A join
 * was once planned as a walk through the whole ledger, and at SERIALIZABLE every row it met was watched, until PostgreSQL had
 * no room left to remember them. An UPDATE of the ends would watch the pages of the index into which the next claims go.
 * `excluded.finished_at` tells the ends from the claims.
 *
 * Asked with lists of keys, and hardly ever answered with one: as a rule all claims are granted, and their number says so.
 * All claims of a statement have the time of its beginning, which is their token.
 */
const WRITE = `
  with written as (
    insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
    select $1, key, now(), end_at, 1
    from (select key, null::timestamptz as end_at from string_to_table($2, E'\\t') key
          union all select key, now() from string_to_table($3, E'\\t') key) asked order by key
    on conflict (consumer, message_id) do update set
      finished_at = excluded.finished_at,
      claimed_at = case when excluded.finished_at is null then now() else inbox.claimed_at end,
      attempts = case when excluded.finished_at is null then least($4, inbox.attempts + 1) else inbox.attempts end
    where inbox.finished_at is null and (excluded.finished_at is not null
      or (inbox.attempts < $4 or inbox.claimed_at < clock_timestamp() - make_interval(secs => ${DECIDED_AFTER_SECONDS}))
        and (inbox.claimed_at is null or inbox.claimed_at < clock_timestamp() - make_interval(secs => $5)))
    returning message_id as key, finished_at is null as is_claim, attempts
  )
  select case when count(*) filter (where is_claim) < $6 then string_agg(key, E'\\t') filter (where is_claim) else 'all' end as claimed,
         string_agg(key, E'\\t') filter (where is_claim and attempts > 1) as again, now()::text as token
  from written`;

interface Written {
  /** 'all', or those that were; null when none was. */
  readonly claimed: string | null;
  readonly again: string | null;
  readonly token: string;
}

/** A scalar question each, which cannot be planned as a join. */
const LOOK = `
  select asked.id as "messageId",
         (select case when finished_at is not null then 'finished'
                      when claimed_at < clock_timestamp() - make_interval(secs => $3) then 'uncertain' else 'held' end
          from inbox where inbox.consumer = $1 and inbox.message_id = asked.id) as kind
  from string_to_table($2, E'\\t') as asked (id)`;

/** For sends that PostgreSQL cannot take back. What many senders ask at the same moment, begin or end, is one statement. */
export class SendClaims {
  private readonly asked = new Together<Asked, Claim>(keyOf, (all) => this.round(all), { rounds: ROUNDS });
  private readonly marked: Together<string, void>;
  /** Ends that PostgreSQL has not heard of yet. */
  private readonly unsaid = new Set<string>();
  private isOver = false;
  private whenSaid: () => void = () => undefined;

  constructor(
    private readonly statements: SingleStatements,
    private readonly options: SendClaimOptions,
  ) {
    this.marked = new Together<string, void>(
      (messageId) => messageId,
      async (messageIds) => {
        await options.marks?.addAll(options.consumer, messageIds);
        return messageIds.map(() => undefined);
      },
    );
  }

  async claim(messageId: string): Promise<Claim> {
    if (UNWRITABLE.test(messageId)) throw new Error('an id of one line was expected');
    if (this.unsaid.has(messageId)) return FINISHED;
    const claim = await this.asked.add({ messageId, wants: 'claim' });
    if (claim.kind === 'claimed' && claim.possibleDuplicate)
      this.options.possibleDuplicates?.inc({ consumer: this.options.consumer });
    return claim;
  }

  /**
   * It left, whoever's claim stands by now. Nobody waits for it: the job may end before its row does, and half the hands are
   * enough. The mark is set at once, as it is true whatever becomes of the row; the row is said until PostgreSQL has it. A process that
   * dies before that leaves a claim, and whoever finds the message again counts it as a possible duplicate, or knows the mark.
   */
  finish(messageId: string): void {
    this.unsaid.add(messageId);
    void this.marked.add(messageId);
    this.sayEnd(messageId);
  }

  /** It certainly did not leave: the next claim is no duplicate. Changes nothing when the claim is no longer ours. */
  async release(messageId: string, token: string): Promise<void> {
    await this.statements.rows(
      `update inbox set claimed_at = null, attempts = attempts - 1
       where consumer = $1 and message_id = $2 and claimed_at = $3::timestamptz and finished_at is null`,
      [this.options.consumer, messageId, token],
    );
  }

  /** When PostgreSQL knows all ends; or has not listened for so long that a process that stops must go. */
  async settled(withinMs = SETTLE_MS): Promise<void> {
    if (this.unsaid.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([new Promise<void>((resolve) => (this.whenSaid = resolve)), tooLong]);
    clearTimeout(timer);
    this.isOver = true;
    if (this.unsaid.size > 0)
      this.options.logger?.warn({ messages: this.unsaid.size }, 'sent, but PostgreSQL was not there to be told');
  }

  private sayEnd(messageId: string): void {
    this.asked.add({ messageId, wants: 'finish' }).then(
      () => {
        this.unsaid.delete(messageId);
        if (this.unsaid.size === 0) this.whenSaid();
      },
      () => {
        // A stopping process waits in `settled`. This timer must not keep it alive.
        if (!this.isOver) setTimeout(() => this.sayEnd(messageId), SAY_AGAIN_MS).unref();
      },
    );
  }

  /**
   * A message with a mark has left, though the row does not say so: PostgreSQL was away at that moment, or was set back to a
   * backup of before. Its claim becomes its end. Both are asked at the same time: there is hardly ever one.
   */
  private async round(asked: readonly Asked[]): Promise<Claim[]> {
    const { marks, consumer } = this.options;
    const claims = idsOf(asked, 'claim');
    const looking = claims.length > 0 ? marks?.allOf(consumer, claims) : undefined;
    const answers = await this.write(asked, claims);
    const marked = await looking;
    if (!marked || marked.size === 0) return answers;
    await this.write([...marked].map((messageId) => ({ messageId, wants: 'finish' })));
    return answers.map((answer, index) => (marked.has(asked[index]?.messageId ?? '') ? FINISHED : answer));
  }

  private async write(asked: readonly Asked[], claims: readonly string[] = []): Promise<Claim[]> {
    const { consumer, lockMs } = this.options;
    const ends = idsOf(asked, 'finish');
    const values = [consumer, claims.join('\t'), ends.join('\t'), MAX_UNKNOWN_SENDS, lockMs / 1000, claims.length];
    const [written] = await this.statements.rows<Written>(WRITE, values);
    const { claimed = null, again = null, token = '' } = written ?? {};
    const mine: Claim = { kind: 'claimed', token, possibleDuplicate: false };
    if (claimed === 'all' && again === null) return asked.map(({ wants }) => (wants === 'claim' ? mine : FINISHED));
    const [isMine, isAgain] = [setOf(claimed === 'all' ? claims.join('\t') : claimed), setOf(again)];
    const kinds = await this.look(claims.filter((messageId) => !isMine.has(messageId)));
    return asked.map(({ messageId, wants }): Claim => {
      if (wants === 'finish') return FINISHED;
      if (isAgain.has(messageId)) return { kind: 'claimed', token, possibleDuplicate: true };
      return isMine.has(messageId) ? mine : { kind: kinds.get(messageId) ?? 'held' };
    });
  }

  private async look(messageIds: readonly string[]): Promise<ReadonlyMap<string, 'finished' | 'held' | 'uncertain'>> {
    if (messageIds.length === 0) return new Map();
    const values = [this.options.consumer, messageIds.join('\t'), this.options.lockMs / 1000];
    const rows = await this.statements.rows<{ messageId: string; kind: 'finished' | 'held' | 'uncertain' }>(LOOK, values);
    return new Map(rows.map(({ messageId, kind }) => [messageId, kind]));
  }
}

const FINISHED: Claim = { kind: 'finished' };

/** Ids of ours have none; of a job that was put in by hand nothing is known. PostgreSQL refuses the last one, and all beside it. */
const UNWRITABLE = /[\t\n\0]/;

function keyOf({ messageId }: Asked): string {
  return messageId;
}

const idsOf = (asked: readonly Asked[], what: Asked['wants']): string[] =>
  asked.filter(({ wants }) => wants === what).map(({ messageId }) => messageId);

const setOf = (list: string | null): ReadonlySet<string> => new Set(list === null ? [] : list.split('\t'));
