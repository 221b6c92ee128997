import type { FreePlace } from '#domain/purchase/free-place';
import { FEWEST_TO_DRAW_FROM, SectorMap, type Proposal, type Share } from '#domain/purchase/sector-map';
import type { DataSource } from 'typeorm';
import type { SeatNewsListener } from './seat-news.ts';

export interface SeatFacts extends FreePlace {
  readonly row: string | null;
}

interface SeatRow extends SeatFacts {
  readonly free: boolean;
  readonly expiresAt: Date | null;
}

/** A sector is looked at again when a hold in it has lapsed, but not more often than this; buyable again within a second. */
const LOOK_AGAIN_MS = 400;
const LOOK_FOR_OTHERS_MS = 10_000;
/** Every loss to another process doubles the number of blocks that are drawn from, every win takes a five-hundredth off. */
const MOST_TO_DRAW_FROM = 384;

const FORGET_AFTER_MS = 600_000;

/** One sector in this process's memory. */
export class SectorPicture {
  /** Proposed and not yet decided: whatever a look says of them is already old. */
  private readonly inFlight = new Set<string>();
  /** Of those: what another process said to have taken since. */
  private readonly goneMeanwhile = new Set<string>();
  private looking: Promise<void> | undefined;
  private lookedAt = 0;
  private usedAt = Date.now();
  private nextExpiryAt = Number.POSITIVE_INFINITY;
  private drawFrom = FEWEST_TO_DRAW_FROM;

  constructor(
    readonly map: SectorMap,
    readonly facts: ReadonlyMap<string, SeatFacts>,
    private readonly read: () => Promise<readonly SeatRow[]>,
  ) {}

  /** True when some hold has lapsed since the last look: what it held is free, and only a look tells which seats. */
  isStale(now: number): boolean {
    return now >= this.nextExpiryAt && now - this.lookedAt >= LOOK_AGAIN_MS;
  }

  /** One look at a time; who comes while one is under way shares the next. */
  async look(): Promise<void> {
    if (this.looking) await this.looking.catch(() => undefined);
    this.looking ??= this.correct().finally(() => (this.looking = undefined));
    await this.looking;
  }

  propose(quantity: number, random: () => number, share?: Share): Proposal | undefined {
    const proposal = this.map.propose(quantity, random, Math.floor(this.drawFrom), share);
    for (const seatId of proposal?.seatIds ?? []) this.inFlight.add(seatId);
    return proposal;
  }

  /** Those that are somebody's in the batch under way. */
  proposedAmong(seatIds: readonly string[]): readonly string[] {
    return seatIds.filter((seatId) => this.inFlight.has(seatId));
  }

  /** Seats a caller named itself. */
  claim(seatIds: readonly string[]): void {
    this.map.markTaken(seatIds);
    for (const seatId of seatIds) this.inFlight.add(seatId);
  }

  won(seatIds: readonly string[], expiresAt: Date): void {
    this.settle(seatIds);
    this.drawFrom = Math.max(FEWEST_TO_DRAW_FROM, this.drawFrom * 0.998);
    this.nextExpiryAt = Math.min(this.nextExpiryAt, expiresAt.getTime());
  }

  /** Nobody took them: they are as free as they were. Those that turned out to have somebody stay out of the picture. */
  lost(seatIds: readonly string[], gone: readonly string[], isContended = gone.length > 0): void {
    const taken = new Set([...gone, ...seatIds.filter((seatId) => this.goneMeanwhile.has(seatId))]);
    this.settle(seatIds);
    if (isContended) this.drawFrom = Math.min(MOST_TO_DRAW_FROM, this.drawFrom * 2);
    this.map.markFree(seatIds.filter((seatId) => !taken.has(seatId)));
    // How long another process holds them is not known here; they are looked for now and then, and at once when seats run short.
    if (gone.length > 0) this.nextExpiryAt = Math.min(this.nextExpiryAt, this.lookedAt + LOOK_FOR_OTHERS_MS);
  }

  /** Another process says so; what is proposed here at this moment the database decides. */
  takenElsewhere(seatIds: readonly string[], until: number): void {
    this.map.markTaken(seatIds);
    for (const seatId of seatIds) if (this.inFlight.has(seatId)) this.goneMeanwhile.add(seatId);
    this.nextExpiryAt = Math.min(this.nextExpiryAt, until);
  }

  use(): void {
    this.usedAt = Date.now();
  }

  isUnused(since: number): boolean {
    return this.usedAt < since && this.inFlight.size === 0;
  }

  suspect(): void {
    this.nextExpiryAt = 0;
  }

  private settle(seatIds: readonly string[]): void {
    for (const seatId of seatIds) {
      this.inFlight.delete(seatId);
      this.goneMeanwhile.delete(seatId);
    }
  }

  private async correct(): Promise<void> {
    this.see(await this.read());
  }

  /** Corrects the picture by what the database says. */
  see(rows: readonly SeatRow[]): void {
    this.lookedAt = Date.now();
    const known = rows.filter(({ seatId }) => !this.inFlight.has(seatId));
    this.map.markTaken(known.filter(({ free }) => !free).map(({ seatId }) => seatId));
    this.map.markFree(known.filter(({ free }) => free).map(({ seatId }) => seatId));
    this.nextExpiryAt = rows.reduce(
      (next, { expiresAt, free }) => (free || !expiresAt ? next : Math.min(next, expiresAt.getTime())),
      Number.POSITIVE_INFINITY,
    );
  }
}

/** Every sector this process sells from. A sector of 2,000 seats is about half a megabyte. */
export class SeatMaps implements SeatNewsListener {
  private readonly pictures = new Map<string, Promise<SectorPicture>>();
  private readonly loaded = new Map<string, SectorPicture>();
  private tidyAt = 0;

  constructor(private readonly dataSource: DataSource) {}

  of(sectorId: string): Promise<SectorPicture> {
    this.forgetUnused(Date.now());
    const known = this.pictures.get(sectorId);
    if (known) {
      this.loaded.get(sectorId)?.use();
      return known;
    }
    const made = this.load(sectorId);
    this.pictures.set(sectorId, made);
    made.catch(() => this.pictures.delete(sectorId));
    return made;
  }

  taken(sectorId: string, seatIds: readonly string[], until: number): void {
    this.loaded.get(sectorId)?.takenElsewhere(seatIds, until);
  }

  freed(sectorId: string): void {
    this.loaded.get(sectorId)?.suspect();
  }

  missedSome(): void {
    for (const picture of this.loaded.values()) picture.suspect();
  }

  /** Matches come and go while the process stays. */
  private forgetUnused(now: number): void {
    if (now < this.tidyAt) return;
    this.tidyAt = now + FORGET_AFTER_MS / 10;
    for (const [sectorId, picture] of this.loaded) {
      if (!picture.isUnused(now - FORGET_AFTER_MS)) continue;
      this.loaded.delete(sectorId);
      this.pictures.delete(sectorId);
    }
  }

  private async load(sectorId: string): Promise<SectorPicture> {
    const read = (): Promise<readonly SeatRow[]> =>
      this.dataSource.query(
        `select id as "seatId", row_label as row, number, row_index as "rowIndex", rank, expires_at as "expiresAt",
                (status = 'available' or (status = 'held' and expires_at <= now())) as free
         from seats where sector_id = $1`,
        [sectorId],
      );
    const rows = await read();
    const picture = new SectorPicture(new SectorMap(rows), new Map(rows.map((row) => [row.seatId, row])), read);
    picture.see(rows);
    this.loaded.set(sectorId, picture);
    return picture;
  }
}
