import type { Transaction } from '#application/transaction-manager';
import { reservationStatusAt, type ReservationStatus } from '#domain/purchase/reservation';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Reservation } from '../../application/ports.ts';
import { Reservations, type ExpiredBatch } from '../application/reservation-ports.ts';
import { seatIsFree } from '../../seat-is-free.sql.ts';
import { expireDue } from './expire-due.ts';
import { countReservation, keepCounted } from './postgres-fan-seats.ts';

type Row = Reservation & { readonly asOf: Date };

const COLUMNS = `
  now() as "asOf", r.id, r.match_id as "matchId", r.sector_id as "sectorId", r.user_id as "userId", r.session_token as "sessionToken", r.status, r.together,
  r.total_cents as "totalCents", r.currency, r.expires_at as "expiresAt",
  (select jsonb_agg(jsonb_build_object('seatId', l.seat_id, 'sector', r.sector, 'row', s.row_label, 'number', s.number,
                                       'priceCents', r.price_cents) order by l.position)
   from unnest(r.seat_ids) with ordinality as l(seat_id, position) left join seats s on s.id = l.seat_id) as seats`;

/** A row as it is now: its time may have come without anybody having been there. */
function asReservation({ asOf, ...row }: Row): Reservation {
  return { ...row, status: reservationStatusAt(row.status, row.expiresAt, asOf) };
}

/**
 * Which holds can be completed: the seats of a hold all or none, of fans among whose seats they still count (`keepCounted`). Locks before it changes, as an
 * update would wait for whoever has a row. What is updated is named by arrays, not joined: the planner takes a batch for one row
 * and would look at each for each.
 */
const WHOLE = `
  with wanted as (
    select * from unnest($1::uuid[], $2::int[], $3::uuid[], $4::uuid[]) as w(id, quantity, match_id, user_id)
  ), free as (
    select id, reservation_id from seats where id = any($5::uuid[]) and status = 'held' for update skip locked
  ), buyers as (
    select ctid as place, match_id, user_id, reservation_ids from fan_seats
    where user_id = any($4::uuid[]) and match_id = any($3::uuid[]) for no key update skip locked
  ), whole as (
    select wanted.id, buyers.place from wanted join free on free.reservation_id = wanted.id join buyers using (match_id, user_id)
    where wanted.id = any(buyers.reservation_ids) group by wanted.id, quantity, buyers.place having count(*) = quantity
  )`;

const LOCK_WHOLE = `${WHOLE} select id from whole`;

const COMPLETE = `${WHOLE}, counted as (
    update fan_seats set revision = revision + 1 where ctid = any(array(select place from whole))
  ), sold as (
    update seats set status = 'sold', expires_at = null
    where id = any(array(select id from free where reservation_id = any(array(select id from whole))))
  ), completed as (
    update reservations set status = 'completed', ended_at = now() where id = any(array(select id from whole))
  ) select id from whole`;

export class PostgresReservations extends Reservations {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async find(reservationId: string): Promise<Reservation | undefined> {
    const rows = await this.dataSource.query<Row[]>(`select ${COLUMNS} from reservations r where r.id = $1`, [reservationId]);
    return rows[0] && asReservation(rows[0]);
  }

  async lock(tx: Transaction, reservationId: string, userId?: string): Promise<Reservation | undefined> {
    const [row] = await inside(tx).rows<Row>(`select ${COLUMNS} from reservations r where r.id = $1 for update of r`, [
      reservationId,
    ]);
    return !row || (userId !== undefined && row.userId !== userId) ? undefined : asReservation(row);
  }

  async lockFree(tx: Transaction, reservationIds: readonly string[]): Promise<ReadonlyMap<string, Reservation>> {
    const rows = await inside(tx).rows<Row>(
      `select ${COLUMNS} from reservations r where r.id = any($1::uuid[]) for update of r skip locked`,
      [reservationIds],
    );
    return new Map(rows.map((row) => [row.id, asReservation(row)]));
  }

  async setStatus(tx: Transaction, reservationId: string, status: ReservationStatus): Promise<void> {
    const ended = status === 'held' || status === 'ordered' ? 'null' : 'now()';
    await inside(tx).rows(`update reservations set status = $2, ended_at = ${ended} where id = $1`, [reservationId, status]);
  }

  async freeSeats(tx: Transaction, reservationId: string): Promise<void> {
    await inside(tx).rows(
      `update seats set status = 'available', reservation_id = null, expires_at = null
       where id = any(array(select unnest(seat_ids) from reservations where id = $1)) and reservation_id = $1 and status = 'held'`,
      [reservationId],
    );
  }

  async sellSeats(tx: Transaction, reservation: Reservation): Promise<boolean> {
    const seatIds = reservation.seats.map(({ seatId }) => seatId);
    const locked = await inside(tx).rows<{ ours: boolean }>(
      `select (${seatIsFree('seats')} or (status = 'held' and reservation_id = $2)) as ours
       from seats where id = any($1::uuid[]) order by id for update`,
      [seatIds, reservation.id],
    );
    if (locked.length !== seatIds.length || !locked.every(({ ours }) => ours)) return false;
    await inside(tx).rows(`update seats set status = 'sold', reservation_id = $2, expires_at = null where id = any($1::uuid[])`, [
      seatIds,
      reservation.id,
    ]);
    return true;
  }

  staysCounted(tx: Transaction, reservation: Reservation): Promise<boolean> {
    return keepCounted(tx, reservation);
  }

  countAgain(tx: Transaction, reservation: Reservation, limit: number): Promise<boolean> {
    return countReservation(tx, { ...reservation, quantity: reservation.seats.length }, limit);
  }

  async lockWhole(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    if (reservations.length === 0) return new Set();
    const rows = await inside(tx).rows<{ id: string }>(LOCK_WHOLE, wholeParameters(reservations));
    return new Set(rows.map(({ id }) => id));
  }

  async complete(tx: Transaction, reservations: readonly Reservation[]): Promise<ReadonlySet<string>> {
    const rows = await inside(tx).rows<{ id: string }>(COMPLETE, wholeParameters(reservations));
    return new Set(rows.map(({ id }) => id));
  }

  async unpaidInWindows(tx: Transaction, sessionTokens: readonly string[]): Promise<readonly string[]> {
    const rows = await inside(tx).rows<{ id: string }>(
      `select id from reservations where session_token = any($1) and status = 'held' and expires_at > now() order by id for update`,
      [sessionTokens],
    );
    return rows.map(({ id }) => id);
  }

  expireDue(limit: number, after?: ExpiredBatch['next']): Promise<ExpiredBatch> {
    return expireDue(this.dataSource, limit, after);
  }
}

function wholeParameters(reservations: readonly Reservation[]): readonly unknown[] {
  return [
    reservations.map(({ id }) => id),
    reservations.map(({ seats }) => seats.length),
    reservations.map(({ matchId }) => matchId),
    reservations.map(({ userId }) => userId),
    reservations.flatMap(({ seats }) => seats.map(({ seatId }) => seatId)),
  ];
}
