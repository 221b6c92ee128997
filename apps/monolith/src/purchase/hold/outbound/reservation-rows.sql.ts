import type { ReservationStatus } from '#domain/purchase/reservation';
import { namedSql } from '#platform/postgres/named-sql';
import type { Reservation } from '../../application/ports.ts';

/** A reservation as it is stored. `status` may still be `held` after the expiry, until the expiry sweeper ends the reservation. */
export type ReservationRow = Reservation & {
  /** Start of the transaction that read the row, on the database's clock. */
  readonly asOf: Date;
};

/** The columns of a ReservationRow, with `now()`: the caller decides by the database's clock whether the hold has expired. */
const COLUMNS = `
  now() as "asOf", r.id, r.match_id as "matchId", r.sector_id as "sectorId", r.user_id as "userId", r.session_token as "sessionToken",
  r.invitation_id as "invitationId", r.status, r.together,
  r.total_cents as "totalCents", r.currency, r.expires_at as "expiresAt",
  -- The seats, in the order of seat_ids. As json and not jsonb, which would cost a quarter of the statement.
  (select json_agg(json_build_object('seatId', l.seat_id, 'sector', r.sector, 'row', s.row_label, 'number', s.number,
                                     'priceCents', r.price_cents) order by l.position)
   from unnest(r.seat_ids) with ordinality as l(seat_id, position) left join seats s on s.id = l.seat_id) as seats`;

export const READ_RESERVATION = namedSql<{ readonly id: string }>(
  'read-reservation',
  `select ${COLUMNS} from reservations r where r.id = :id`,
);

/** Waits until no other transaction has locked the reservation. */
export const LOCK_RESERVATION = namedSql<{ readonly id: string }>(
  'lock-reservation',
  `select ${COLUMNS} from reservations r where r.id = :id for update of r`,
);

/** Waits for no lock: reservations that another transaction has locked are missing from the result. */
export const LOCK_UNLOCKED_RESERVATIONS = namedSql<{ readonly ids: readonly string[] }>(
  'lock-unlocked-reservations',
  `select ${COLUMNS} from reservations r where r.id = any(:ids::uuid[]) for update of r skip locked`,
);

/**
 * A page of a fan's reservations, newest first. A parameter that is null matches every reservation.
 *
 * There is no index of all reservations by fan, because it would cost each hold a tenth of its processor time. A reservation is
 * always in at least one of three places, and `listed` reads all three:
 * - `fan_seats` lists what a fan holds, has ordered or has bought. The fan's next hold removes what has ended from it.
 * - The index `reservations_by_fan` has what was released or ended by the expiry sweeper, and all reservations of invitations.
 * - The index `reservations_due` has what has expired and waits for the expiry sweeper: normally the last second of all fans.
 */
export const LIST_RESERVATIONS = namedSql<{
  readonly userId: string;
  readonly matchId: string | null;
  readonly status: ReservationStatus | null;
  readonly before: string | null;
  readonly limit: number;
}>(
  'list-reservations',
  `
  with listed as (
    select unnest(reservation_ids) as id from fan_seats where user_id = :userId::uuid
    union select id from reservations where user_id = :userId::uuid and (swept or released or invitation_id is not null)
    union select id from reservations where user_id = :userId::uuid and not swept and expires_at <= now()
  )
  select ${COLUMNS} from reservations r
  where r.id = any(array(select id from listed)) and r.user_id = :userId::uuid and (:before::uuid is null or r.id < :before::uuid)
    and (:matchId::uuid is null or r.match_id = :matchId::uuid)
    -- The rule of reservationStatusAt: expired from the expiry on.
    and (:status::text is null
         or :status::text = case when r.status in ('held', 'ordered') and r.expires_at <= now() then 'expired' else r.status end)
  order by r.id desc limit :limit`,
);
