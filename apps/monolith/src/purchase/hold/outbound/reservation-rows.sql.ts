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
  -- The seats, in the order of seat_ids.
  (select jsonb_agg(jsonb_build_object('seatId', l.seat_id, 'sector', r.sector, 'row', s.row_label, 'number', s.number,
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
