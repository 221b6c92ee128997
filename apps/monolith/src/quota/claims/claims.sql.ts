import type { ExportedItem } from '#contracts/fan-export';
import { namedSql } from '#platform/postgres/named-sql';

const BY_TOKEN = `
  select i.id, i.match_id as "matchId", i.user_id as "userId", i.sector_id as "sectorId", i.seat_ids as "seatIds", i.status,
         i.expires_at as "expiresAt", i.expires_at <= now() as "isOver", i.reservation_id as "reservationId", q.name as "quotaName",
         q.opens_at as "opensAt", q.claim_until as "claimUntil", q.return_at as "returnAt", q.price_cents as "priceCents",
         coalesce(q.opens_at <= now(), true) as "isOpenYet", m.kickoff_at as "kickoffAt"
  from invitation_tokens t join invitations i on i.id = t.invitation_id join quotas q on q.id = i.quota_id
       join matches m on m.id = i.match_id
  where t.token_hash = :tokenHash::bytea`;

export const READ_BY_TOKEN = namedSql<{ readonly tokenHash: Buffer }>('read-invitation-by-token', BY_TOKEN);

/** Locks the invitation. Claims, withdrawal and expiry of one invitation happen one after the other, because all of them lock it. */
export const LOCK_BY_TOKEN = namedSql<{ readonly tokenHash: Buffer }>('lock-invitation-by-token', `${BY_TOKEN} for update of i`);

/** Locks the open ones of these invitations, without those that another process ends or a fan claims now. */
export const LOCK_OPEN = namedSql<{ readonly ids: readonly string[] }>(
  'lock-open-invitations',
  `
  select id, seat_ids as "seatIds", reservation_id as "reservationId", expires_at <= now() as "isOver"
  from invitations where id = any(:ids::uuid[]) and status = 'open' order by id for update skip locked`,
);

export const SET_CLAIMED = namedSql<{ readonly id: string; readonly reservationId: string; readonly userId: string }>(
  'set-invitation-claimed',
  `update invitations set reservation_id = :reservationId, claimed_by = :userId, claimed_at = now() where id = :id`,
);

export const SET_ENDED = namedSql<{ readonly ids: readonly string[]; readonly status: string }>(
  'set-invitations-ended',
  `update invitations set status = :status::text, ended_at = now() where id = any(:ids::uuid[])`,
);

/** Moves the end of open invitations with the deadline of their quota. An end that was given for an invitation stays the latest. */
export const MOVE_ENDS = namedSql<{ readonly quotaId: string; readonly end: Date }>(
  'move-ends-of-invitations',
  `
  update invitations set expires_at = least(given_end, :end::timestamptz)
  where quota_id = :quotaId::uuid and status = 'open' and expires_at <> least(given_end, :end::timestamptz)`,
);

/** Invitations whose time is over, without those that are given. Read outside of transactions. */
export const DUE_INVITATIONS = `
  select id from invitations where status = 'open' and expires_at <= clock_timestamp() and id <> all($1::uuid[])
  order by expires_at limit $2`;

/** Open invitations to cancelled matches. Read outside of transactions. */
export const OPEN_OF_CANCELLED_MATCHES = `
  select i.id from matches m join invitations i on i.match_id = m.id and i.status = 'open'
  where m.cancelled_at is not null limit $1`;

/** An invitation in the export of the fan who claimed it. */
export type ClaimedInvitation = Omit<ExportedItem<'invitations'>, 'reservation_id'>;

/** Address and name are those of the fan only if the invitation names the fan: a link can be passed on. */
export const CLAIMED_INVITATIONS = namedSql<{ readonly userId: string; readonly ids: readonly string[] }>(
  'claimed-invitations',
  `
  select id, match_id, quantity, status, case when user_id = :userId then email end as email,
         case when user_id = :userId then name end as name, created_at
  from invitations where id = any(:ids::uuid[])`,
);

/** The open invitations that name the fan, that the fan has claimed, or that were sent to the address. Each way has an index. */
export const OPEN_OF_FAN = namedSql<{ readonly userId: string; readonly email: string | null }>(
  'open-invitations-of-fan',
  `
  select id from invitations
  where status = 'open' and (user_id = :userId::uuid or claimed_by = :userId or lower(email) = lower(:email::text))`,
);
