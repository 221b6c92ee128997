import { layOut } from '#domain/catalog/stadium-layout';
import { newId } from '#platform/ids';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import type { DataSource } from 'typeorm';
import type { SectorForSale } from '../application/ports.ts';
import { PostgresSeatInventory } from '../availability/outbound/postgres-seat-inventory.ts';
import { HOLD_SETTINGS } from '../hold/outbound/hold-batch.sql.ts';
import { HoldQueue, type HoldQueueOptions } from '../hold/outbound/hold-queue.ts';
import { sectorSnapshots } from '../hold/outbound/load-snapshots.ts';
import { WriterConnection } from '../hold/outbound/writer-connection.ts';

/** Inserts a match on sale without a waiting room, with one sector and a limit of four tickets per fan. Returns the sector. */
export async function openSale(dataSource: DataSource, rows: number, seatsPerRow: number): Promise<SectorForSale> {
  const matchId = newId();
  const sector: SectorForSale = {
    ...{ id: newId(), matchId, name: 'East', kind: 'seated', gate: null, wheelchair: false },
    ...{ priceCents: 1000, currency: 'EUR', capacity: rows * seatsPerRow },
  };
  await dataSource.query(
    `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows)
     values ($1, 'a', 'b', 'v', now() + interval '9 days', 'EUR', 4, false, 'open', 600, 1000)`,
    [matchId],
  );
  await dataSource.query(
    `insert into sectors (id, match_id, name, kind, price_cents, capacity, position) values ($1, $2, 'East', 'seated', 1000, $3, 0)`,
    [sector.id, matchId, sector.capacity],
  );
  const seats = layOut({ kind: 'seated', rows, seatsPerRow }, 0, 1);
  await new PostgresTransactionManager(dataSource, { deadlineMs: 10_000 }).run((tx) =>
    new PostgresSeatInventory(dataSource).layOut(tx, matchId, [{ sectorId: sector.id, seats }]),
  );
  return sector;
}

/** Opens a writer connection with the settings that HOLD_BATCH needs. */
export function writerConnection(url: string): WriterConnection {
  return new WriterConnection({ url, name: 'holds', settings: HOLD_SETTINGS, onRetry: () => undefined });
}

/**
 * Opens a hold queue like that of one more process. No turns are looked up, and snapshots are loaded only when a request needs
 * them.
 */
export function openHoldQueue(
  dataSource: DataSource,
  connection: WriterConnection,
  options: Partial<HoldQueueOptions> = {},
): HoldQueue {
  return new HoldQueue({
    connections: [connection],
    holdSeconds: 600,
    snapshots: sectorSnapshots(dataSource),
    turns: { learn: () => Promise.resolve() },
    matches: { sectors: () => Promise.resolve([]) },
    ...options,
  });
}
