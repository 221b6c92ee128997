import { FEWEST_TO_DRAW_FROM, type Proposal, type SectorMap, type Share } from '#domain/purchase/sector-map';

export interface SeatFacts {
  readonly seatId: string;
  readonly row: string | null;
  readonly number: number | null;
}

/** What never changes of a sector's seats, in the order of the map's places. */
export interface SectorSeats {
  readonly ids: readonly string[];
  readonly rows: readonly (string | null)[];
  readonly numbers: readonly (number | null)[];
}

/** What became of them, in the same order. */
export interface SeatLook {
  /** `FREE` or something else for each. */
  readonly letters: string;
  /** Where their rows lay. */
  readonly ctids: readonly string[];
  /** When the first of those that are held will be free again. */
  readonly nextExpiryMs: number | null;
}

export const FREE = 'f';

/** A sector is looked at again when a hold in it has lapsed, but not more often than this; buyable again within a second. */
const REFRESH_AFTER_MS = 400;
const REFRESH_OTHERS_MS = 10_000;
/** Every loss to another process doubles the number of blocks that are drawn from, every win takes a five-hundredth off. */
const MOST_TO_DRAW_FROM = 384;

/** Nobody is deciding about it. */
const SETTLED = 0;
/** Proposed and not yet decided: whatever a look says of it is already old. */
const IN_FLIGHT = 1;
/** The same, and another process has said since to have taken it. */
const GONE_MEANWHILE = 2;

/** One sector in this process's memory. A seat is known by the number of its place in the map; ids are for the world outside. */
export class SectorSnapshot {
  private readonly states: Uint8Array;
  private inFlight = 0;
  private looking: Promise<void> | undefined;
  private lookedAt = 0;
  private usedAt = Date.now();
  private nextExpiryAt = Number.POSITIVE_INFINITY;
  private drawFrom = FEWEST_TO_DRAW_FROM;

  private readonly numberOf: ReadonlyMap<string, number>;
  private last: SeatLook | undefined;

  constructor(
    readonly map: SectorMap,
    private readonly seats: SectorSeats,
    private readonly read: () => Promise<SeatLook>,
  ) {
    this.states = new Uint8Array(seats.ids.length);
    this.numberOf = new Map(seats.ids.map((seatId, place) => [seatId, place]));
  }

  idOf(place: number): string {
    return this.seats.ids[place]!;
  }

  factsOf(place: number): SeatFacts {
    const { ids, rows, numbers } = this.seats;
    return { seatId: ids[place]!, row: rows[place] ?? null, number: numbers[place] ?? null };
  }

  /** Where its row lay at the last look, as PostgreSQL writes it; every change moves it. */
  ctidOf(place: number): string | null {
    return this.last?.ctids[place] ?? null;
  }

  /** Of seats that are in this sector, which the caller knows: a sector is laid out once. */
  seatIndexesOf(seatIds: readonly string[]): readonly number[] {
    return seatIds.map((seatId) => {
      const place = this.numberOf.get(seatId);
      if (place === undefined) throw new Error(`seat ${seatId} is not in the sector it was said to be in`);
      return place;
    });
  }

  /** True when some hold has lapsed since the last look: what it held is free, and only a look tells which seats. */
  isStale(now: number): boolean {
    return now >= this.nextExpiryAt && now - this.lookedAt >= REFRESH_AFTER_MS;
  }

  /** One look at a time; who comes while one is under way shares the next. */
  async look(): Promise<void> {
    if (this.looking) await this.looking.catch(() => undefined);
    this.looking ??= this.correct().finally(() => (this.looking = undefined));
    await this.looking;
  }

  propose(quantity: number, random: () => number, share?: Share): Proposal | undefined {
    const proposal = this.map.propose(quantity, random, Math.floor(this.drawFrom), share);
    if (proposal) this.launch(proposal.places);
    return proposal;
  }

  /** Those that are somebody's in the batch under way. */
  proposedAmong(places: readonly number[]): readonly number[] {
    return places.filter((place) => this.states[place] !== SETTLED);
  }

  /** Seats a caller named itself. */
  claim(places: readonly number[]): void {
    this.map.markTaken(places);
    this.launch(places);
  }

  won(places: readonly number[], expiresAtMs: number): void {
    this.settle(places);
    this.drawFrom = Math.max(FEWEST_TO_DRAW_FROM, this.drawFrom * 0.998);
    this.nextExpiryAt = Math.min(this.nextExpiryAt, expiresAtMs);
  }

  /** Nobody took them: they are as free as they were. Those that turned out to have somebody stay out of the picture. */
  lost(places: readonly number[], gone: readonly string[], isContended = gone.length > 0): void {
    const free = places.filter((place) => this.states[place] !== GONE_MEANWHILE && !gone.includes(this.idOf(place)));
    this.settle(places);
    if (isContended) this.drawFrom = Math.min(MOST_TO_DRAW_FROM, this.drawFrom * 2);
    this.map.markFree(free);
    // How long another process holds them is not known here; they are looked for now and then, and at once when seats run short.
    if (gone.length > 0) this.nextExpiryAt = Math.min(this.nextExpiryAt, this.lookedAt + REFRESH_OTHERS_MS);
  }

  /** Another process says so; what is proposed here at this moment the database decides. */
  takenElsewhere(seatIds: readonly string[], until: number): void {
    const places = seatIds.flatMap((seatId) => this.numberOf.get(seatId) ?? []);
    this.map.markTaken(places);
    for (const place of places) if (this.states[place] === IN_FLIGHT) this.pass(place, GONE_MEANWHILE);
    this.nextExpiryAt = Math.min(this.nextExpiryAt, until);
  }

  use(): void {
    this.usedAt = Date.now();
  }

  isUnused(since: number): boolean {
    return this.usedAt < since && this.inFlight === 0;
  }

  suspect(): void {
    this.nextExpiryAt = 0;
  }

  private launch(places: readonly number[]): void {
    for (const place of places) this.pass(place, IN_FLIGHT);
  }

  private settle(places: readonly number[]): void {
    for (const place of places) this.pass(place, SETTLED);
  }

  private pass(place: number, to: number): void {
    this.inFlight += Number(to !== SETTLED) - Number(this.states[place] !== SETTLED);
    this.states[place] = to;
  }

  private async correct(): Promise<void> {
    this.see(await this.read());
  }

  /** Corrects the picture by what the database says. */
  see(look: SeatLook): void {
    this.lookedAt = Date.now();
    this.last = look;
    const [free, taken]: [number[], number[]] = [[], []];
    for (const [place, state] of this.states.entries())
      if (state === SETTLED) (look.letters[place] === FREE ? free : taken).push(place);
    this.map.markTaken(taken);
    this.map.markFree(free);
    this.nextExpiryAt = look.nextExpiryMs ?? Number.POSITIVE_INFINITY;
  }
}
