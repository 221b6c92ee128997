import { namedSql } from '#platform/postgres/named-sql';

/** The status of an offer now: an open one whose time is over is `expired`, also before the task has written that. */
const STATUS = `case when f.status = 'offered' and f.expires_at <= clock_timestamp() then 'expired' else f.status end`;

const COLUMNS = `f.id, f.ticket_id as "ticketId", t.order_id as "orderId", f.match_id as "matchId", t.seat_id as "seatId", t.sector,
  t.row_label as "row", t.number, f.from_user_id as "fromUserId", f.to_user_id as "toUserId", f.to_email as "toEmail",
  f.holder_name as "holderName", ${STATUS} as status, f.created_at as "createdAt", f.expires_at as "expiresAt",
  f.ended_at as "endedAt", f.new_ticket_id as "newTicketId"`;

const OFFERS = `transfer_offers f join tickets t on t.id = f.ticket_id`;

/**
 * Adds an offer, unless the match has begun. The end is on the clock of the database. An offer of the ticket that is over, but not
 * ended yet, must be ended before: one ticket has one open offer.
 */
export const ADD_OFFER = namedSql<{
  readonly id: string;
  readonly ticketId: string;
  readonly matchId: string;
  readonly fromUserId: string;
  readonly toUserId: string | null;
  readonly toEmail: string | null;
  readonly holderName: string | null;
  readonly kickoffAt: Date;
}>(
  'add-transfer-offer',
  `
  insert into transfer_offers (id, ticket_id, match_id, from_user_id, to_user_id, to_email, holder_name, expires_at)
  select :id::uuid, :ticketId::uuid, :matchId::uuid, :fromUserId::uuid, :toUserId::uuid, :toEmail::text, :holderName::text,
         least(now() + interval '72 hours', :kickoffAt::timestamptz)
  where :kickoffAt > clock_timestamp() returning id`,
);

export const READ_OFFER = namedSql<{ readonly id: string }>(
  'read-transfer-offer',
  `select ${COLUMNS} from ${OFFERS} where f.id = :id`,
);

/** Locks the ticket of an offer. Everything that ends the offer locks or updates its ticket before. */
export const LOCK_TICKET_OF_OFFER = namedSql<{ readonly id: string }>(
  'lock-ticket-of-offer',
  `select id from tickets where id = (select ticket_id from transfer_offers where id = :id) for no key update`,
);

export const LOCK_OFFER = namedSql<{ readonly id: string }>(
  'lock-transfer-offer',
  `
  select ${COLUMNS}, t.status as "ticketStatus", t.holder_name as "ticketHolderName"
  from ${OFFERS} where f.id = :id for no key update of f`,
);

/** The open offer of a ticket, if its time is not over. */
export const OPEN_OFFER_OF_TICKET = namedSql<{ readonly ticketId: string }>(
  'open-offer-of-ticket',
  `select from transfer_offers where ticket_id = :ticketId and status = 'offered' and expires_at > clock_timestamp()`,
);

export const ACCEPT_OFFER = namedSql<{ readonly id: string; readonly userId: string; readonly newTicketId: string }>(
  'accept-transfer-offer',
  `
  update transfer_offers set status = 'accepted', ended_at = now(), to_user_id = :userId::uuid, new_ticket_id = :newTicketId::uuid
  where id = :id`,
);

export const END_OFFER = namedSql<{ readonly id: string; readonly status: string }>(
  'end-transfer-offer',
  `update transfer_offers set status = :status::text, ended_at = now() where id = :id`,
);

/** Ends the open offer of each of these tickets, whose rows the caller has locked. */
export const WITHDRAW_OFFERS_OF_TICKETS = namedSql<{ readonly ticketIds: readonly string[] }>(
  'withdraw-offers-of-tickets',
  `update transfer_offers set status = 'withdrawn', ended_at = now() where ticket_id = any(:ticketIds::uuid[]) and status = 'offered'`,
);

/** Ends the open offer of a ticket if its time is over. */
export const EXPIRE_OFFER_OF_TICKET = namedSql<{ readonly ticketId: string }>(
  'expire-offer-of-ticket',
  `
  update transfer_offers set status = 'expired', ended_at = expires_at
  where ticket_id = :ticketId and status = 'offered' and expires_at <= clock_timestamp()`,
);

export const WITHDRAW_OFFERS_OF_MATCH = namedSql<{ readonly matchId: string }>(
  'withdraw-offers-of-match',
  `update transfer_offers set status = 'withdrawn', ended_at = now() where match_id = :matchId and status = 'offered'`,
);

/** Open offers end at the new kick-off at the latest. A kick-off in the past ends them now. */
export const MOVE_ENDS_OF_OFFERS = namedSql<{ readonly matchId: string; readonly kickoffAt: Date }>(
  'move-ends-of-offers',
  `
  update transfer_offers set expires_at = least(created_at + interval '72 hours', :kickoffAt::timestamptz),
    status = case when :kickoffAt > now() then status else 'expired' end,
    ended_at = case when :kickoffAt > now() then null else now() end
  where match_id = :matchId and status = 'offered' and expires_at > clock_timestamp()`,
);

/** Open offers whose time is over. Read outside of transactions. */
export const DUE_OFFERS = `
  select ${COLUMNS} from ${OFFERS} where f.status = 'offered' and f.expires_at <= clock_timestamp() order by f.expires_at limit $1`;

/** Ends offers whose time is over. Skipped: those that another transaction is ending. */
export const EXPIRE_OFFERS = namedSql<{ readonly ids: readonly string[] }>(
  'expire-transfer-offers',
  `
  with due as (
    select id from transfer_offers where id = any(:ids::uuid[]) and status = 'offered' and expires_at <= clock_timestamp()
    order by id for update skip locked
  )
  update transfer_offers f set status = 'expired', ended_at = f.expires_at from due where f.id = due.id returning f.id`,
);

/** A page of the offers of a fan, newest first. The three ways to belong to a fan have an index each. */
export const OFFERS_OF_FAN = namedSql<{
  readonly userId: string;
  readonly email: string | null;
  readonly after: string | null;
  readonly limit: number;
}>(
  'transfer-offers-of-fan',
  `
  with own as (
    (select id from transfer_offers where from_user_id = :userId::uuid and (:after::uuid is null or id < :after)
     order by id desc limit :limit::int)
    union
    (select id from transfer_offers where to_user_id = :userId and (:after is null or id < :after) order by id desc limit :limit)
    union
    (select id from transfer_offers where lower(to_email) = lower(:email::text) and to_email is not null
       and (:after is null or id < :after) order by id desc limit :limit)
  )
  select ${COLUMNS} from ${OFFERS} where f.id in (select id from own) order by f.id desc limit :limit`,
);

export const COUNT_OFFERS_TO_ADDRESSES = namedSql<{ readonly userId: string; readonly email: string }>(
  'count-offers-to-addresses',
  `
  select count(*) filter (where lower(to_email) = lower(:email::text))::int as same, count(*)::int as "all"
  from transfer_offers where from_user_id = :userId and to_email is not null and created_at > now() - interval '24 hours'`,
);
