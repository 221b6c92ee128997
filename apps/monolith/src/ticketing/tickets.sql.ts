import { namedSql } from '#platform/postgres/named-sql';

const COLUMNS = `id, order_id as "orderId", match_id as "matchId", user_id as "userId", seat_id as "seatId", sector,
  row_label as "row", number, holder_name as "holderName", status, serial`;

/** Adds the tickets of one or more orders, in the transaction that completes the orders. `tickets` is a JSON array of Ticket. */
export const ADD_TICKETS = namedSql<{ readonly tickets: string }>(
  'add-tickets',
  `
  insert into tickets (id, order_id, match_id, user_id, seat_id, sector, row_label, number, holder_name, status, serial)
  select id, "orderId", "matchId", "userId", "seatId", sector, "row", number, "holderName", status, serial
  from jsonb_to_recordset(:tickets::jsonb) as t(id uuid, "orderId" uuid, "matchId" uuid, "userId" uuid, "seatId" uuid,
    sector text, "row" text, number integer, "holderName" text, status text, serial integer)`,
);

/** Reads and locks a fan's ticket. `for no key update`: other transactions may still add rows that refer to the ticket. */
export const LOCK_TICKET = namedSql<{ readonly ticketId: string; readonly userId: string }>(
  'lock-ticket',
  `select ${COLUMNS} from tickets where id = :ticketId and user_id = :userId for no key update`,
);

/** Reads and locks all tickets of an order, in the order of their ids, so that two transactions never wait for each other. */
export const LOCK_TICKETS_OF_ORDER = namedSql<{ readonly orderId: string }>(
  'lock-tickets-of-order',
  `
  select id, user_id as "userId", seat_id as "seatId", status from tickets
  where order_id = :orderId order by id for no key update`,
);

/** Sets the status of tickets. The caller must have locked them. */
export const SET_TICKET_STATUS = namedSql<{ readonly ticketIds: readonly string[]; readonly status: string }>(
  'set-ticket-status',
  'update tickets set status = :status where id = any(:ticketIds::uuid[])',
);

/** A page of the fans who have valid or used tickets for the match, each fan with the seats of these tickets. */
export const TICKET_HOLDERS = namedSql<{ readonly matchId: string; readonly after: string | null; readonly limit: number }>(
  'ticket-holders',
  `
  select user_id as "userId", jsonb_agg(jsonb_build_object('sector', sector, 'row', row_label, 'number', number) order by id) as seats
  from tickets where match_id = :matchId and status in ('valid', 'used') and (:after::uuid is null or user_id > :after)
  group by user_id order by user_id limit :limit`,
);

/** A ticket of this order and seat that the fan has or had. */
export const TICKET_EVER_HAD = namedSql<{ readonly userId: string; readonly orderId: string; readonly seatId: string }>(
  'ticket-ever-had',
  `select from tickets where order_id = :orderId and seat_id = :seatId and user_id = :userId limit 1`,
);

export const ANY_TICKET_OF_FAN = namedSql<{ readonly userId: string }>(
  'any-ticket-of-fan',
  `select from tickets where user_id = :userId limit 1`,
);

/** The ids and statuses of the tickets of several orders. */
export const TICKETS_OF_ORDERS = namedSql<{ readonly orderIds: readonly string[] }>(
  'tickets-of-orders',
  `select order_id as "orderId", id, status from tickets where order_id = any(:orderIds::uuid[]) order by order_id, id`,
);

/** The tickets of several orders with their seats and the names of their holders. */
export const NAMED_TICKETS_OF_ORDERS = namedSql<{ readonly orderIds: readonly string[] }>(
  'named-tickets-of-orders',
  `
  select order_id as "orderId", id, status, seat_id as "seatId", sector, row_label as "row", number, holder_name as "holderName"
  from tickets where order_id = any(:orderIds::uuid[]) order by order_id, id`,
);

interface Part {
  readonly pattern: string;
  readonly idPattern: string | null;
}

/**
 * Whether a ticket has this part in the name of its holder or in its id. `lower()` of the database's locale may leave Đ as it is, so names
 * use a collation that every PostgreSQL 18 has.
 */
const HAS_PART = `(lower(holder_name collate pg_c_utf8) like :pattern
  or :idPattern::text is not null and replace(id::text, '-', '') like :idPattern)`;

/**
 * The orders of a match that have such a ticket. The tickets of a match are in two indexes: those that let somebody in
 * (tickets_one_a_seat), and all others (tickets_ended_by_match).
 */
export const ORDERS_WITH_PART = namedSql<Part & { readonly matchId: string }>(
  'orders-with-part-of-ticket',
  `
  select order_id as "orderId" from tickets where match_id = :matchId and status in ('valid', 'used') and ${HAS_PART}
  union
  select order_id from tickets where match_id = :matchId and status in ('transferred', 'refunded') and ${HAS_PART}`,
);

/** The orders that have such a ticket, of the newest tickets. */
export const NEWEST_WITH_PART = namedSql<Part & { readonly limit: number }>(
  'newest-tickets-with-part',
  `
  select distinct order_id as "orderId" from (select id, order_id, holder_name from tickets order by id desc limit :limit::int) newest
  where ${HAS_PART}`,
);

/** The orders of the tickets whose ids are in this range. */
export const ORDERS_OF_TICKET_IDS = namedSql<{ readonly from: string; readonly to: string; readonly limit: number }>(
  'orders-of-ticket-ids',
  `select order_id as "orderId" from tickets where id between :from and :to order by id limit :limit`,
);

/** A page of a fan's tickets, newest first. */
export const TICKETS_OF_FAN = namedSql<{ readonly userId: string; readonly after: string | null; readonly limit: number }>(
  'tickets-of-fan',
  `
  select ${COLUMNS} from tickets where user_id = :userId and (:after::uuid is null or id < :after)
  order by id desc limit :limit`,
);

/** Finds a ticket by its id, if it belongs to the fan `userId`. */
export const FIND_TICKET = namedSql<{ readonly ticketId: string; readonly userId: string }>(
  'find-ticket',
  `select ${COLUMNS} from tickets where id = :ticketId and user_id = :userId`,
);
