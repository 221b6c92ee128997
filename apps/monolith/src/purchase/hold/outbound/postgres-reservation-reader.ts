import { runUnprepared } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import type { Reservation } from '../../application/ports.ts';
import type { ReservationReader, ReservationSearch } from '../application/reservation-reader.ts';
import { asReservation } from './postgres-reservations.ts';
import { LIST_RESERVATIONS, type ReservationRow } from './reservation-rows.sql.ts';

/** Reads from the primary, because a fan must see a hold at once. */
export class PostgresReservationReader implements ReservationReader {
  constructor(private readonly dataSource: DataSource) {}

  async list(search: ReservationSearch): Promise<Reservation[]> {
    const { userId, matchId = null, status = null, before = null, limit } = search;
    const wanted = LIST_RESERVATIONS.with({ userId, matchId, status, before, limit });
    return (await runUnprepared<ReservationRow[]>(this.dataSource, wanted)).map(asReservation);
  }
}
