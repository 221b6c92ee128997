import { namedSql } from '#platform/postgres/named-sql';
import type { TracesOfFan } from '../../fans/kept-about-fans.api.ts';
import { turnsOfFan } from '../../purchase/turns-of-fan.api.ts';
import { ERASED_EVENT } from './retention-rules.ts';

/** By what the data of the erased fans are found. Ids and addresses are in lower case. */
export interface SearchedTraces extends TracesOfFan {
  readonly userIds: readonly string[];
}

/** Erasures that are due: not before the requests that ran meanwhile have stored their answers and messages. */
export const DUE_ERASURES = `
  select id, user_id as "userId", traces from erasures
  where done_at is null and requested_at <= now() - make_interval(secs => $1) order by requested_at limit 100`;

export const FINISH_ERASURES = `update erasures set traces = null, done_at = clock_timestamp() where id = any($1) and done_at is null`;

/** True for a mail or push, given as the JSON of its job, to one of the fans or about an order of theirs. */
const IS_ABOUT = `(lower(body ->> 'user_id') = any(:userIds::text[]) or lower(body ->> 'recipient') = any(:emails::text[])
  or body #>> '{about,order_id}' = any(:ids::text[]))`;

type ToFans = Pick<SearchedTraces, 'userIds' | 'emails' | 'ids'>;

export const DELETE_MESSAGES = namedSql<ToFans>(
  'delete-messages-of-erased-fans',
  `
  with found as (
    select id from outbox where destination in ('email', 'push', 'push-priority') and ${IS_ABOUT} for update skip locked
  ) delete from outbox using found where outbox.id = found.id`,
);

/** Messages that the relay has locked: it is moving them into a queue. */
export const COUNT_MESSAGES = namedSql<ToFans>(
  'count-messages-of-erased-fans',
  `select count(*)::int as n from outbox where destination in ('email', 'push', 'push-priority') and ${IS_ABOUT}`,
);

export const DELETE_JOB_COPIES = namedSql<ToFans>(
  'delete-job-copies-of-erased-fans',
  `delete from queued_jobs where ${IS_ABOUT}`,
);

/**
 * Empties stored answers to the fans, and answers to operators and partners that have an id or an address of theirs. The rows stay: the
 * requests must not take effect a second time.
 */
export const EMPTY_ANSWERS = namedSql<Pick<SearchedTraces, 'userIds'> & { readonly texts: readonly string[] }>(
  'empty-answers-of-erased-fans',
  `
  update idempotency_keys set body = '{}'
  where body is not null and body not in ('', '{}')
    and (user_id = any(:userIds::uuid[]) or exists (select from unnest(:texts::text[]) t where position(t in lower(body)) > 0))
  returning key`,
);

/** An event of another system is about a fan if one of its texts is an id, an address, a token or a ticket code of the fan. */
export const ERASE_EVENTS = namedSql<{ readonly texts: readonly string[]; readonly codeParts: readonly string[] }>(
  'erase-events-of-erased-fans',
  `
  update loaded_events l set payload = '${ERASED_EVENT}'
  where exists (
      select from jsonb_path_query(l.payload, 'strict $.** ? (@.type() == "string")') found, lateral (select found #>> '{}' as v) text
      where lower(v) = any(:texts::text[]) or v like 'TRB1.%' and substr(v, 14, 20) = any(:codeParts::text[]))
    -- An event that still waits for its effect is erased after it.
    and not exists (select from loaded_events_due d where d.source = l.source and d.event_id = l.event_id and d.parked_at is null)`,
);

export const ERASE_MALFORMED_EVENTS = namedSql<{ readonly texts: readonly string[] }>(
  'erase-malformed-events-of-erased-fans',
  `
  update quarantined_events set content = '', detail = ''
  where content <> '' and exists (select from unnest(:texts::text[]) t where position(t in lower(content)) > 0)`,
);

export const DELETE_MAILBOX = namedSql<Pick<SearchedTraces, 'userIds' | 'emails' | 'pushTokens'>>(
  'delete-mailbox-of-erased-fans',
  `
  delete from mailbox_messages
  where user_id = any(:userIds::uuid[]) or lower(recipient) = any(:emails::text[]) or recipient = any(:pushTokens::text[])`,
);

/** Of the sandbox only: other providers keep their secrets themselves. */
export const ERASE_SANDBOX_SECRETS = namedSql<Pick<SearchedTraces, 'ids'>>(
  'erase-sandbox-secrets-of-erased-fans',
  `update sandbox_intents set client_secret = 'erased' where id = any(:ids::text[])`,
);

/** The rows stay, because the progress of a push counts them. The provider answers that this token is dead. */
export const ERASE_BROADCAST_DEVICES = namedSql<Pick<SearchedTraces, 'pushTokens'>>(
  'erase-broadcast-devices-of-erased-fans',
  `update broadcast_devices set fcm_token = 'erased' where fcm_token = any(:pushTokens::text[])`,
);

/** Ended ones. The request has withdrawn those that were open. */
export const ERASE_INVITATIONS = namedSql<Pick<SearchedTraces, 'userIds' | 'emails'>>(
  'erase-invitations-of-erased-fans',
  `
  update invitations set email = '', name = null, note = null, list_key = null
  where status <> 'open' and email <> ''
    and (claimed_by = any(:userIds::uuid[]) or user_id = any(:userIds) or lower(email) = any(:emails::text[]))`,
);

/** Offers to the fan's address that other fans made: now they name the fan by id. */
export const ERASE_OFFERS_TO_ADDRESS = namedSql<{ readonly userId: string; readonly emails: readonly string[] }>(
  'erase-offers-to-erased-fan',
  `
  update transfer_offers set to_user_id = coalesce(to_user_id, :userId::uuid), to_email = null, holder_name = null
  where lower(to_email) = any(:emails::text[]) and status <> 'offered'`,
);

/** The turns of a fan whose tokens are not replaced yet. */
export const TURNS_OF_ERASED_FAN = namedSql<{ readonly userId: string }>(
  'turns-of-erased-fan',
  `${turnsOfFan('w.match_id as "matchId", w.session_token as token, w.ended_at is null and w.expires_at > now() as "isOpen"')}
  where turn.token not like 'erased_%'`,
);

/** Replaces the tokens of ended turns everywhere by the same text, so that the rows still belong together. */
export const REPLACE_TURN_TOKENS = ['purchase_windows', 'reservations', 'orders'].map(
  (table) =>
    `update ${table} set session_token = 'erased_' || encode(sha256(session_token::bytea), 'hex') where session_token = any($1)`,
);

export const STREAM_CURSORS = `select match_id as "matchId", last_id as "lastId" from queue_event_cursors where match_id = any($1)`;
