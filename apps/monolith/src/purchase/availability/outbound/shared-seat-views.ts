import { SeatHistory } from '#domain/purchase/seat-history';
import { createHash } from 'node:crypto';
import { SeatViews, type AvailabilityView, type SeatMapView } from '../application/availability-reader.ts';
import type { SeatInventory, SeatState } from '../application/ports.ts';
import type { PostgresAvailability } from './postgres-availability.ts';
import { SharedRead, type Sight } from './shared-read.ts';

/** Counting 40,000 seats takes the database 11 ms, 120,000 28 ms; the seats of one sector of 2,000 less than 1 ms. */
const COUNT_SPACING_MS = 250;
const SEATS_SPACING_MS = 100;
/** What nobody has asked for is forgotten. */
const FORGET_MS = 60_000;
/** Versions of seats end in the number of their process, and begin with milliseconds since 2025: a safe integer for 60 years. */
const PROCESSES = 4096;
const SINCE_MS = Date.UTC(2025, 0);

const statusOf: Readonly<Record<string, SeatState['status']>> = { a: 'available', h: 'held', s: 'sold', b: 'blocked' };

/**
 * What is free, computed once for everybody who looks through this process. A version is the database's clock at the look
 * that first saw this content, in milliseconds, and at least one more than the one before: within a process it never goes back;
 * between replicas the same content may have two versions, and a later one is newer but for what replicas lag behind, a second.
 * Versions of seats, from which changes are asked, also carry the process, so that no two contents have the same.
 */
export class SharedSeatViews extends SeatViews {
  private readonly counts = new Map<string, SharedRead<AvailabilityView>>();
  private readonly maps = new Map<string, SharedRead<SeatMapView>>();
  private process: Promise<number> | undefined;

  constructor(
    private readonly looks: PostgresAvailability,
    private readonly inventory: SeatInventory,
    private readonly onLook: (at: 'sectors' | 'seats') => void = () => undefined,
  ) {
    super();
  }

  sectors(matchId: string): Promise<AvailabilityView> {
    return kept(this.counts, matchId, () => new SharedRead((before) => this.count(matchId, before), COUNT_SPACING_MS)).get();
  }

  seats(sectorId: string): Promise<SeatMapView> {
    return kept(this.maps, sectorId, () => new SharedRead((before) => this.look(sectorId, before), SEATS_SPACING_MS)).get();
  }

  changed(matchId: string, sectorId?: string): void {
    this.counts.get(matchId)?.touch();
    if (sectorId) this.maps.get(sectorId)?.touch();
  }

  private async count(matchId: string, before: AvailabilityView | undefined): Promise<Sight<AvailabilityView>> {
    this.onLook('sectors');
    const asOfMs = performance.now();
    const { atMs, nextExpiryMs, ...facts } = await this.looks.left(matchId);
    const isSame = before !== undefined && JSON.stringify(before.sectors) === JSON.stringify(facts.sectors);
    const version = isSame ? before.version : nextVersion(atMs, before);
    const sectors = isSame ? before.sectors : facts.sectors;
    return {
      value: { ...facts, sectors, version, asOfMs, countedAtMs: Math.floor(atMs) },
      goodForMs: goodFor(atMs, nextExpiryMs),
    };
  }

  /** Places never change, so after the first look only what has become of them is asked, a letter a seat. */
  private async look(sectorId: string, before: SeatMapView | undefined): Promise<Sight<SeatMapView>> {
    this.onLook('seats');
    const [{ atMs, nextExpiryMs, letters }, places, process] = await Promise.all([
      this.looks.seatLetters(sectorId),
      before?.seats ?? this.inventory.seats(sectorId),
      this.processNumber(),
    ]);
    const goodForMs = goodFor(atMs, nextExpiryMs);
    if (letters === before?.letters) return { value: before, goodForMs };
    const seats = places.map((place, index) => ({ ...place, status: statusOf[letters[index] ?? ''] ?? 'blocked' }));
    const moment = Math.max(Math.floor(atMs) - SINCE_MS, before ? Math.floor(before.version / PROCESSES) + 1 : 0);
    const history = before ? before.history.with(before, differing(before.letters, letters), seats.length) : SeatHistory.none;
    return { value: { version: moment * PROCESSES + process, tag: tagOf(letters), letters, seats, history }, goodForMs };
  }

  /** Asked for once; again if the database did not answer. */
  private processNumber(): Promise<number> {
    this.process ??= this.looks.processNumber().catch((error: unknown) => {
      this.process = undefined;
      throw error;
    });
    return this.process;
  }
}

function differing(before: string, after: string): number[] {
  return Array.from(after).flatMap((letter, index) => (letter === before[index] ? [] : [index]));
}

function tagOf(letters: string): string {
  return createHash('sha1').update(letters).digest('base64url');
}

function nextVersion(atMs: number, before: { readonly version: number } | undefined): number {
  return Math.max(Math.floor(atMs), (before?.version ?? 0) + 1);
}

function goodFor(atMs: number, nextExpiryMs: number | null): number {
  return nextExpiryMs === null ? Number.POSITIVE_INFINITY : Math.max(0, nextExpiryMs - atMs);
}

function kept<V>(looks: Map<string, SharedRead<V>>, id: string, make: () => SharedRead<V>): SharedRead<V> {
  const known = looks.get(id);
  if (known) return known;
  for (const [other, look] of looks) if (look.idleMs > FORGET_MS) looks.delete(other);
  const made = make();
  looks.set(id, made);
  return made;
}
