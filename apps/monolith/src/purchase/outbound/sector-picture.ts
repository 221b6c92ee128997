import { FEWEST_TO_DRAW_FROM, type Proposal, type SectorMap, type Share } from '#domain/purchase/sector-map';

export interface SeatFacts {
  readonly row: string | null;
  readonly number: number | null;
}

/** What never changes of a sector's seats, in the order of their ranks. */
export interface SectorSeats {
  readonly ids: readonly string[];
  readonly rows: readonly (string | null)[];
  readonly numbers: readonly (number | null)[];
}

/** What became of them, in the same order. */
export interface SeatLook {
  /** `FREE` or something else for each. */
  readonly letters: string;
  readonly places: readonly string[];
  /** When the first of those that are held will be free again. */
  readonly nextExpiryMs: number | null;
}

export const FREE = 'f';

/** A sector is looked at again when a hold in it has lapsed, but not more often than this; buyable again within a second. */
const LOOK_AGAIN_MS = 400;
const LOOK_FOR_OTHERS_MS = 10_000;
/** Every loss to another process doubles the number of blocks that are drawn from, every win takes a five-hundredth off. */
const MOST_TO_DRAW_FROM = 384;

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

  private readonly indexOf: ReadonlyMap<string, number>;
  private last: SeatLook | undefined;

  constructor(
    readonly map: SectorMap,
    private readonly seats: SectorSeats,
    private readonly read: () => Promise<SeatLook>,
  ) {
    this.indexOf = new Map(seats.ids.map((seatId, index) => [seatId, index]));
  }

  factsOf(seatId: string): SeatFacts {
    const index = this.indexOf.get(seatId) ?? -1;
    return { row: this.seats.rows[index] ?? null, number: this.seats.numbers[index] ?? null };
  }

  /** Where its row lay at the last look, as PostgreSQL writes it; every change moves it. */
  placeOf(seatId: string): string | null {
    return this.last?.places[this.indexOf.get(seatId) ?? -1] ?? null;
  }

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
  see(look: SeatLook): void {
    this.lookedAt = Date.now();
    this.last = look;
    const [free, taken]: [string[], string[]] = [[], []];
    for (const [index, seatId] of this.seats.ids.entries()) {
      if (!this.inFlight.has(seatId)) (look.letters[index] === FREE ? free : taken).push(seatId);
    }
    this.map.markTaken(taken);
    this.map.markFree(free);
    this.nextExpiryAt = look.nextExpiryMs ?? Number.POSITIVE_INFINITY;
  }
}
