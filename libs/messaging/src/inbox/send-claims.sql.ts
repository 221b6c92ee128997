import { namedSql } from '#platform/postgres/named-sql';

/*
 * Statements of SendClaims: claims of messages that a provider sends, as rows of the table `inbox`. Parameters with several
 * message ids are one text, separated by tabs. All claims of a statement have its start time as `claimed_at`, which is also their
 * token.
 */

/**
 * Automatic retries end within minutes. If an `uncertain` message (its sends have an unknown outcome) is claimed after this time,
 * an operator has retried it, and the claim is granted.
 */
const OPERATOR_RETRY_AFTER_SECONDS = 600;

interface ClaimsAndFinishes {
  readonly consumer: string;
  /** Ids of the messages to claim (`claims`), and of messages that were sent (`finishes`), separated by tabs. */
  readonly claims: string;
  readonly finishes: string;
  readonly maxUnknownSends: number;
  readonly lockSeconds: number;
  readonly claimCount: number;
}

/** The result row of WRITE_CLAIMS. */
export interface WrittenClaims {
  /** 'all', or the ids of the messages that were claimed, separated by tabs; null when no message was claimed. */
  readonly claimed: string | null;
  /** The ids of the messages that were claimed a second time, separated by tabs. */
  readonly again: string | null;
  /** The token of all granted claims. A release needs it. */
  readonly token: string;
}

/**
 * Writes the claims and the finished sends of one batch in one upsert.
 *
 * Guarantees
 * - Of several claims of a message one is granted, until it is released or its lock expires.
 * - A finished message is never claimed again.
 * - A message whose outcome is unknown is claimed at most `maxUnknownSends` times, and once more when an operator retries it.
 *
 * The statement is an upsert, because it then finds every row by its key, whatever plan PostgreSQL chooses. An earlier version used
 * a join, which was once planned as a scan of the whole table: at SERIALIZABLE each row read got a predicate lock, until
 * PostgreSQL had no memory left for such locks. A separate UPDATE for the finished sends would also conflict with other batches:
 * it would lock the index pages into which their claims are inserted.
 */
export const WRITE_CLAIMS = namedSql<ClaimsAndFinishes>(
  'write-claims',
  `
  with written as (
    insert into inbox (consumer, message_id, claimed_at, finished_at, attempts)
    select :consumer, key, now(), finish_at, 1
    from (select key, null::timestamptz as finish_at from string_to_table(:claims, E'\\t') key
          union all select key, now() from string_to_table(:finishes, E'\\t') key) requested order by key
    -- The message already has a row. excluded.finished_at is null for a claim.
    on conflict (consumer, message_id) do update set
      finished_at = excluded.finished_at,
      claimed_at = case when excluded.finished_at is null then now() else inbox.claimed_at end,
      attempts = case when excluded.finished_at is null then least(:maxUnknownSends, inbox.attempts + 1) else inbox.attempts end
    -- A finish is always written. A claim is granted if attempts are left or an operator has retried, and no other claim
    -- has a lock.
    where inbox.finished_at is null and (excluded.finished_at is not null
      or (inbox.attempts < :maxUnknownSends
          or inbox.claimed_at < clock_timestamp() - make_interval(secs => ${OPERATOR_RETRY_AFTER_SECONDS}))
        and (inbox.claimed_at is null or inbox.claimed_at < clock_timestamp() - make_interval(secs => :lockSeconds)))
    returning message_id as key, finished_at is null as is_claim, attempts
  )
  -- Usually all claims are granted. Then the answer is just 'all' instead of a list of keys.
  select case when count(*) filter (where is_claim) < :claimCount then string_agg(key, E'\\t') filter (where is_claim)
              else 'all' end as claimed,
         string_agg(key, E'\\t') filter (where is_claim and attempts > 1) as again, now()::text as token
  from written`,
);

/** A claim that was not granted, with the reason: the message was sent, is being sent, or its sends have an unknown outcome. */
export interface RefusedClaim {
  readonly messageId: string;
  readonly kind: 'finished' | 'held' | 'uncertain';
}

/** Reads why claims were not granted. One scalar subquery per id, because a subquery cannot be planned as a join. */
export const READ_CLAIM_KINDS = namedSql<{
  readonly consumer: string;
  readonly messageIds: string;
  readonly lockSeconds: number;
}>(
  'read-claim-kinds',
  `
  select requested.id as "messageId",
         (select case when finished_at is not null then 'finished'
                      when claimed_at < clock_timestamp() - make_interval(secs => :lockSeconds) then 'uncertain' else 'held' end
          from inbox where inbox.consumer = :consumer and inbox.message_id = requested.id) as kind
  from string_to_table(:messageIds, E'\\t') as requested (id)`,
);

/**
 * Ends a claim whose message was not sent, and does not count its attempt. Changes nothing when a newer claim has another token.
 */
export const RELEASE_CLAIM = namedSql<{ readonly consumer: string; readonly messageId: string; readonly token: string }>(
  'release-claim',
  `
  update inbox set claimed_at = null, attempts = attempts - 1
  where consumer = :consumer and message_id = :messageId and claimed_at = :token::timestamptz and finished_at is null`,
);
