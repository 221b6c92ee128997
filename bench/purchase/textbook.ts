// The yardstick `textbook`: a reservation written in the usual way. One entity per table, one SERIALIZABLE transaction per request,
// `FOR UPDATE SKIP LOCKED` on the two best free seats, and a retry of the whole transaction (CONTRACT §8). Like our code, it sells no
// seat twice.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, EntitySchema, type EntityManager } from 'typeorm';
import { refusalOf } from './refusals.ts';
import { QUANTITY, type Shop, type ShopAddress, type Purchase } from './shop.ts';

/** Connections of the textbook shop. More would make it slower: 16 connections reached twice the speed of 64 (research/limits.md §2). */
const POOL_SIZE = 16;
const MAX_ATTEMPTS = 6;
const RETRYABLE = new Set(['40001', '40P01', '55P03']);
const HOLD_MS = 3_600_000;
const PRICE_CENTS = 2500;
const LIMIT = 4;

interface SeatRow {
  id: string;
  sector_id: string;
  row_label: string;
  number: number;
  rank: number;
  status: string;
  reservation_id: string | null;
  expires_at: Date | null;
}

const seats = new EntitySchema<SeatRow>({
  name: 'seats',
  columns: {
    id: { type: 'uuid', primary: true },
    sector_id: { type: 'uuid' },
    row_label: { type: 'text' },
    number: { type: 'int' },
    rank: { type: 'int' },
    status: { type: 'text' },
    reservation_id: { type: 'uuid', nullable: true },
    expires_at: { type: 'timestamptz', nullable: true },
  },
});

interface ReservationRow {
  id: string;
  match_id: string;
  sector_id: string;
  user_id: string;
  status: string;
  seat_ids: readonly string[];
  quantity: number;
  sector: string;
  price_cents: number;
  together: boolean;
  total_cents: number;
  currency: string;
  expires_at: Date;
}

const reservations = new EntitySchema<ReservationRow>({
  name: 'reservations',
  columns: {
    id: { type: 'uuid', primary: true },
    match_id: { type: 'uuid' },
    sector_id: { type: 'uuid' },
    user_id: { type: 'uuid' },
    status: { type: 'text' },
    seat_ids: { type: 'uuid', array: true },
    quantity: { type: 'int' },
    sector: { type: 'text' },
    price_cents: { type: 'int' },
    together: { type: 'boolean' },
    total_cents: { type: 'int' },
    currency: { type: 'text' },
    expires_at: { type: 'timestamptz' },
  },
});

const reservationSeats = new EntitySchema<Record<string, unknown>>({
  name: 'seats_of_reservation',
  columns: {
    reservation_id: { type: 'uuid', primary: true },
    seat_id: { type: 'uuid', primary: true },
    position: { type: 'int' },
    sector: { type: 'text' },
    row_label: { type: 'text' },
    number: { type: 'int' },
    price_cents: { type: 'int' },
  },
});

const keys = new EntitySchema<Record<string, unknown>>({
  name: 'idempotency_keys',
  columns: {
    key: { type: 'text', primary: true },
    user_id: { type: 'uuid' },
    fingerprint: { type: 'text' },
    status: { type: 'int' },
    body: { type: 'text' },
  },
});

/** Opens the usual implementation with its own index and table, in a copy of our database. */
export async function openTextbookShop({ databaseUrl }: ShopAddress): Promise<Shop> {
  const dataSource = new DataSource({
    type: 'postgres',
    url: databaseUrl,
    entities: [seats, reservations, reservationSeats, keys],
    poolSize: POOL_SIZE,
    installExtensions: false,
  });
  await dataSource.initialize();
  // The usual index for free seats. Our schema has no such index, because with it updates of a seat could no longer be HOT updates.
  await dataSource.query(`create index seats_free on seats (match_id, sector_id, rank) where status = 'available'`);
  // The usual table with one row for each seat of a reservation. Our schema stores the seats in the reservation.
  await dataSource.query(`create table seats_of_reservation (reservation_id uuid, seat_id uuid, position integer not null, sector text not null,
    row_label text, number integer, price_cents integer not null, primary key (reservation_id, seat_id))`);
  let retries = 0;
  const attempt = async (purchase: Purchase, number = 1): Promise<void> => {
    try {
      await dataSource.transaction('SERIALIZABLE', (manager) => reserve(manager, purchase, randomUUID()));
    } catch (error) {
      if (number === MAX_ATTEMPTS || !RETRYABLE.has(String((error as { code?: unknown }).code))) throw error;
      retries += 1;
      await sleep(Math.min(1000, (0.5 + Math.random()) * 50 * 2 ** number));
      return attempt(purchase, number + 1);
    }
  };
  return {
    buy: (purchase) => attempt(purchase).then(() => undefined, refusalOf),
    retries: async () => retries,
    close: async () => {
      // This shop adds up the seats of a fan from the reservations. Our code uses the table fan_seats, which lists the reservations
      // of each fan. The shop does not write it, so fill it now: `verify` compares it with the reservations after the run.
      await dataSource.query(`insert into fan_seats (match_id, user_id, revision, reservation_ids)
        select match_id, user_id, 1, array_agg(id) from reservations group by match_id, user_id on conflict do nothing`);
      await dataSource.destroy();
    },
  };
}

async function reserve(manager: EntityManager, { matchId, sectorId }: Purchase, userId: string): Promise<void> {
  await manager.query(`set local lock_timeout = '8s'`);
  const held = await manager.sum(reservations, 'quantity', { user_id: userId, match_id: matchId });
  if ((held ?? 0) + QUANTITY > LIMIT) throw new Error('over the limit');
  const chosen = await manager
    .createQueryBuilder(seats, 'seat')
    .where(`match_id = :matchId and sector_id = :sectorId and status = 'available'`, { matchId, sectorId })
    .orderBy('rank')
    .limit(QUANTITY)
    .setLock('pessimistic_write')
    .setOnLocked('skip_locked')
    .getMany();
  if (chosen.length < QUANTITY) throw new Error('sold out');
  const [id, expiresAt] = [randomUUID(), new Date(Date.now() + HOLD_MS)];
  await manager.insert(reservations, {
    ...{ id, match_id: matchId, sector_id: sectorId, user_id: userId, status: 'held', quantity: QUANTITY, together: false },
    ...{ seat_ids: chosen.map((seat) => seat.id), sector: 'Sector', price_cents: PRICE_CENTS },
    ...{ total_cents: QUANTITY * PRICE_CENTS, currency: 'EUR', expires_at: expiresAt },
  });
  for (const [index, seat] of chosen.entries()) {
    await manager.update(seats, { id: seat.id }, { status: 'held', reservation_id: id, expires_at: expiresAt });
    const { row_label, number } = seat;
    await manager.insert(reservationSeats, {
      ...{
        reservation_id: id,
        seat_id: seat.id,
        position: index + 1,
        sector: 'Sector',
        row_label,
        number,
        price_cents: PRICE_CENTS,
      },
    });
  }
  const key = randomUUID().replaceAll('-', '');
  await manager.insert(keys, {
    key,
    user_id: userId,
    fingerprint: key,
    status: 201,
    body: JSON.stringify({ id, seats: chosen }),
  });
}
