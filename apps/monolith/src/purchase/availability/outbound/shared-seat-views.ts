import { SeatHistory } from '#domain/purchase/seat-history';
import type { Metrics } from '#platform/health/metrics';
import type { ReplicaReads } from '#platform/postgres/replica-reads';
import { createHash } from 'node:crypto';
import { Counter } from 'prom-client';
import type { SeatViews, AvailabilityView, SeatMapView } from '../application/availability-reader.ts';
import type { SeatState } from '../application/ports.ts';
import type { PostgresAvailability } from './postgres-availability.ts';
import type { SeatsLeftCount } from './seats-left.sql.ts';
import type { PostgresSeatInventory } from './postgres-seat-inventory.ts';
import { SharedRead, type ReadResult } from './shared-read.ts';

/** COUNT_SEATS_LEFT takes 11 ms for a match of 40,000 seats and 28 ms for 120,000. */
const MIN_COUNT_INTERVAL_MS = 250;
/** READ_SEAT_LETTERS takes less than 1 ms for a sector of 2,000 seats. */
const MIN_SEATS_INTERVAL_MS = 100;
/** A cached view that nobody has requested for this time is dropped. */
const UNUSED_MS = 60_000;
/**
 * A version of a seat map is milliseconds since 2025, times 4096, plus the number of its process. It stays a safe integer for 60
 * years.
 */
const PROCESS_NUMBERS = 4096;
const VERSION_EPOCH_MS = Date.UTC(2025, 0);

const statusOf: Readonly<Record<string, SeatState['status']>> = { a: 'available', h: 'held', s: 'sold', b: 'blocked' };

/**
 * Reads the seat views once for all requests of this process and gives each view a version.
 *
 * A version is the database's clock, in milliseconds, at the read that first had this content. It is at least one more than the
 * version before, so within a process it never decreases. Two replicas may give the same content different versions; a higher
 * version is newer, except for the second by which a replica may lag.
 *
 * Versions of seat maps also contain the process number, because clients ask for the changes since a version: two contents must
 * never have the same version.
 */
export class SharedSeatViews implements SeatViews {
  private readonly countsByMatch = new Map<string, SharedRead<AvailabilityView>>();
  /** Counts of the primary, if viewers have those of a replica. */
  private readonly decisiveCountsByMatch = new Map<string, SharedRead<AvailabilityView>>();
  private readonly mapsBySector = new Map<string, SharedRead<SeatMapView>>();
  private readonly reads: Counter<'at'>;
  private ownNumber: Promise<number> | undefined;

  constructor(
    private readonly availability: PostgresAvailability,
    private readonly inventory: PostgresSeatInventory,
    { registry }: Pick<Metrics, 'registry'>,
    private readonly replicaReads: Pick<ReplicaReads, 'read' | 'hasReplica'>,
  ) {
    this.reads = new Counter({
      name: 'availability_looks_total',
      help: 'Reads of availability from the database: the counts of a match (sectors), or the seats of a sector (seats).',
      labelNames: ['at'],
      registers: [registry],
    });
  }

  sectors(matchId: string): Promise<AvailabilityView> {
    const count = () => this.replicaReads.read('current', (database) => this.availability.countSeatsLeft(matchId, database));
    return this.counts(this.countsByMatch, matchId, count);
  }

  decisiveSectors(matchId: string): Promise<AvailabilityView> {
    if (!this.replicaReads.hasReplica) return this.sectors(matchId);
    return this.counts(this.decisiveCountsByMatch, matchId, () => this.availability.countSeatsLeft(matchId));
  }

  seats(sectorId: string): Promise<SeatMapView> {
    const read = (previous: SeatMapView | undefined) => this.readSeatMap(sectorId, previous);
    return sharedRead(this.mapsBySector, sectorId, read, MIN_SEATS_INTERVAL_MS).get();
  }

  invalidate(matchId: string, sectorId?: string): void {
    this.countsByMatch.get(matchId)?.invalidate();
    this.decisiveCountsByMatch.get(matchId)?.invalidate();
    if (sectorId) this.mapsBySector.get(sectorId)?.invalidate();
  }

  private counts(
    reads: Map<string, SharedRead<AvailabilityView>>,
    matchId: string,
    count: () => Promise<SeatsLeftCount>,
  ): Promise<AvailabilityView> {
    const read = (previous: AvailabilityView | undefined) => this.readCounts(count, previous);
    return sharedRead(reads, matchId, read, MIN_COUNT_INTERVAL_MS).get();
  }

  private async readCounts(
    count: () => Promise<SeatsLeftCount>,
    previous: AvailabilityView | undefined,
  ): Promise<ReadResult<AvailabilityView>> {
    this.reads.inc({ at: 'sectors' });
    const readAtMs = performance.now();
    const { atMs, nextExpiryMs, ...counts } = await count();
    const isSame = previous !== undefined && JSON.stringify(previous.sectors) === JSON.stringify(counts.sectors);
    const version = isSame ? previous.version : nextVersion(atMs, previous);
    const sectors = isSame ? previous.sectors : counts.sectors;
    return {
      value: { ...counts, sectors, version, readAtMs, countedAtMs: Math.floor(atMs) },
      validForMs: msUntil(nextExpiryMs, atMs),
    };
  }

  /** The geometry of the seats never changes, so only the first read loads it. Later reads load one letter for each seat. */
  private async readSeatMap(sectorId: string, previous: SeatMapView | undefined): Promise<ReadResult<SeatMapView>> {
    this.reads.inc({ at: 'seats' });
    const [{ atMs, nextExpiryMs, letters }, knownSeats, processNumber] = await Promise.all([
      this.availability.seatLetters(sectorId),
      previous?.seats ?? this.inventory.seats(sectorId),
      this.processNumber(),
    ]);
    const validForMs = msUntil(nextExpiryMs, atMs);
    if (letters === previous?.letters) return { value: previous, validForMs };
    const seats = knownSeats.map((seat, index) => ({ ...seat, status: statusOf[letters[index] ?? ''] ?? 'blocked' }));
    const previousMs = previous ? Math.floor(previous.version / PROCESS_NUMBERS) : -1;
    const versionMs = Math.max(Math.floor(atMs) - VERSION_EPOCH_MS, previousMs + 1);
    const version = versionMs * PROCESS_NUMBERS + processNumber;
    const history = previous
      ? previous.history.with(previous, changedIndices(previous.letters, letters), seats.length)
      : SeatHistory.none;
    const tag = createHash('sha1').update(letters).digest('base64url');
    return { value: { version, tag, letters, seats, history }, validForMs };
  }

  /** The number of this process, read once from the database. If the read fails, the next call tries again. */
  private processNumber(): Promise<number> {
    this.ownNumber ??= this.availability.processNumber().catch((error: unknown) => {
      this.ownNumber = undefined;
      throw error;
    });
    return this.ownNumber;
  }
}

function changedIndices(before: string, after: string): number[] {
  return Array.from(after).flatMap((letter, index) => (letter === before[index] ? [] : [index]));
}

function nextVersion(atMs: number, previous: { readonly version: number } | undefined): number {
  return Math.max(Math.floor(atMs), (previous?.version ?? 0) + 1);
}

/**
 * Milliseconds from the read at `atMs` to the next expiry of a hold, both on the database's clock. Infinity when no hold will
 * expire.
 */
function msUntil(nextExpiryMs: number | null, atMs: number): number {
  return nextExpiryMs === null ? Number.POSITIVE_INFINITY : Math.max(0, nextExpiryMs - atMs);
}

function sharedRead<V>(
  reads: Map<string, SharedRead<V>>,
  id: string,
  read: (previous: V | undefined) => Promise<ReadResult<V>>,
  minIntervalMs: number,
): SharedRead<V> {
  const known = reads.get(id);
  if (known) return known;
  for (const [otherId, { unusedMs }] of reads) if (unusedMs > UNUSED_MS) reads.delete(otherId);
  const created = new SharedRead(read, minIntervalMs);
  reads.set(id, created);
  return created;
}
