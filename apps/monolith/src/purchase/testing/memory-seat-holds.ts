import { assertHoldsAllowed } from '#domain/catalog/sale';
import { assertWindowOpen } from '#domain/purchase/purchase-window';
import { assertWithinLimit } from '#domain/purchase/ticket-limit';
import { SectorMap } from '#domain/purchase/sector-map';
import { SqlError, type SimulatedDatabase, type SimulatedTransaction } from '#testing/simulation/simulated-database';
import { idempotencyKeys, KeyTaken, withRetries, type SimulatedTransactions } from '#testing/simulation/simulated-transactions';
import type { Reservation } from '../application/ports.ts';
import { SeatHolds, requestedSeats, type HoldOutcome, type HoldRequest } from '../hold/application/ports.ts';
import { asReservation } from './memory-reservations.ts';
import {
  countFan,
  fanAtMatch,
  isFree,
  tables,
  type MatchRow,
  type ReservationRow,
  type SeatRow,
  type WindowRow,
} from './memory-tables.ts';
import type { MemoryWaitingRoom } from './memory-waiting-room.ts';

/** What a negative control switches off. */
export interface HoldGuards {
  /** The database looks whether the proposed seats are free; off, memory is believed. */
  readonly seats: boolean;
  /** "As counted at this revision." */
  readonly revision: boolean;
  /** How far the clock that decides about expiry is ahead of the database's. */
  readonly clockAheadMs: number;
}

export const ALL_HOLD_GUARDS: HoldGuards = { seats: true, revision: true, clockAheadMs: 0 };

interface Attempt {
  readonly wish: HoldRequest;
  readonly reservationId: string;
  readonly seatIds: readonly string[];
  readonly together: boolean;
  readonly fan: ReturnType<typeof countFan>;
}

interface Facts {
  readonly match: MatchRow | undefined;
  readonly window: (WindowRow & { readonly isOver: boolean }) | undefined;
  readonly gone: readonly string[];
  readonly busy: readonly string[];
}

/** `seatIds` in the order of the map's places. */
interface Picture {
  readonly map: SectorMap;
  readonly seatIds: readonly string[];
  readonly inFlight: Set<string>;
  nextExpiryMs: number;
}

const PROPOSALS = 5;
const NEWCOMER = { taken: 0, revision: 0, living: [] };

/**
 * Memory proposes, the database disposes: the picture is the real `SectorMap`, one a process, wrong in both directions; what
 * the database does is hold-statement.ts told step by step, for one wish. (That a commit carries many changes its cost, and
 * what two wishes of one batch do to each other is tested on the real statement.)
 */
export class MemorySeatHolds extends SeatHolds {
  private readonly pictures = new Map<string, Picture>();

  constructor(
    private readonly db: SimulatedDatabase,
    private readonly transactions: SimulatedTransactions,
    private readonly waitingRoom: MemoryWaitingRoom,
    private readonly holdMs: number,
    private readonly guards: HoldGuards = ALL_HOLD_GUARDS,
  ) {
    super();
  }

  async hold(wish: HoldRequest): Promise<HoldOutcome> {
    const { scheduler } = this.db;
    const picture = await this.picture(wish.sector.id);
    const reservationId = scheduler.newId('r');
    for (let proposals = 1; ; proposals += 1) {
      const proposal = await this.propose(wish);
      for (const seatId of proposal.seatIds) picture.inFlight.add(seatId);
      let outcome: Reservation | Facts;
      // Taken for a newcomer with a turn we have heard of; only who fails is asked about.
      const isKnown = proposals > 1 || proposal.seatIds.length === 0;
      if (isKnown) await this.waitingRoom.learn(wish);
      const fan = isKnown ? await this.count(wish) : NEWCOMER;
      try {
        outcome = await this.commit({ wish, reservationId, ...proposal, fan });
      } catch (error) {
        this.lost(wish.sector.id, proposal.seatIds, []);
        throw error;
      }
      if ('id' in outcome) {
        for (const seatId of proposal.seatIds) picture.inFlight.delete(seatId);
        picture.nextExpiryMs = Math.min(picture.nextExpiryMs, outcome.expiresAt.getTime());
        return { kind: 'held', reservation: outcome };
      }
      const { gone, busy } = outcome;
      this.lost(wish.sector.id, proposal.seatIds, gone);
      if (!isKnown) continue;
      assertRules(wish, outcome, fan.taken);
      if (proposal.seatIds.length === 0) return { kind: 'none' };
      const isLost = gone.length + busy.length > 0;
      if (proposals === PROPOSALS || (isLost && 'seatIds' in wish)) return { kind: 'lost', taken: gone, busy };
    }
  }

  /** A process that comes up, or has lost its memory, looks; another looks when a hold it knows of has lapsed. */
  private async picture(sectorId: string): Promise<Picture> {
    const known = this.pictures.get(sectorId);
    if (known && known.nextExpiryMs > this.db.scheduler.nowMs) return known;
    await this.look(sectorId);
    const picture = this.pictures.get(sectorId);
    if (!picture) throw new Error(`there is no sector ${sectorId}`);
    return picture;
  }

  private async look(sectorId: string): Promise<void> {
    const now = this.db.scheduler.nowMs;
    const seats = this.db.rows(tables.seats, (seat) => seat.sectorId === sectorId);
    // What was seen is old by the time the answer is here.
    await this.db.scheduler.step(`looks at the seats of ${sectorId}`);
    const picture = this.pictures.get(sectorId) ?? emptySnapshot(seats);
    const known = seats.filter(({ id }) => !picture.inFlight.has(id));
    const [free, taken]: [string[], string[]] = [[], []];
    for (const seat of known) (isFree(seat, now) ? free : taken).push(seat.id);
    picture.map.markTaken(seatIndexesOf(picture, taken));
    picture.map.markFree(seatIndexesOf(picture, free));
    const held = known.filter((seat) => seat.status === 'held' && !isFree(seat, now));
    picture.nextExpiryMs = Math.min(...held.map(({ expiresAtMs }) => expiresAtMs ?? 0));
    this.pictures.set(sectorId, picture);
  }

  private async propose(wish: HoldRequest): Promise<{ seatIds: readonly string[]; together: boolean }> {
    const picture = await this.picture(wish.sector.id);
    const { map } = picture;
    if ('seatIds' in wish) {
      map.markTaken(seatIndexesOf(picture, wish.seatIds));
      return { seatIds: wish.seatIds, together: true };
    }
    // Few places to draw from, so that processes do meet.
    const draw = (): { seatIds: readonly string[]; together: boolean } | undefined => {
      const proposal = map.propose(wish.quantity, () => this.db.scheduler.random.next(), 2);
      return proposal && { seatIds: proposal.seats.map((seat) => picture.seatIds[seat] ?? ''), together: proposal.together };
    };
    const proposal = draw();
    if (proposal) return proposal;
    await this.look(wish.sector.id);
    return draw() ?? { seatIds: [], together: true };
  }

  private lost(sectorId: string, seatIds: readonly string[], gone: readonly string[]): void {
    const picture = this.pictures.get(sectorId);
    if (!picture) return;
    for (const seatId of seatIds) picture.inFlight.delete(seatId);
    picture.map.markFree(
      seatIndexesOf(
        picture,
        seatIds.filter((seatId) => !gone.includes(seatId)),
      ),
    );
  }

  private async count(wish: HoldRequest): Promise<ReturnType<typeof countFan>> {
    await this.db.scheduler.step(`counts the seats of ${wish.userId}`);
    const fan = this.db.read(tables.fanSeats, fanAtMatch(wish));
    return countFan(fan, (id) => this.db.read(tables.reservations, id), this.db.scheduler.nowMs);
  }

  private async commit(attempt: Attempt): Promise<Reservation | Facts> {
    try {
      return await withRetries(this.db.scheduler, () => this.statement(attempt));
    } catch (error) {
      const key = this.transactions.keyInHand();
      if (key && error instanceof SqlError && error.code === '23505') throw new KeyTaken(key.key);
      throw error;
    }
  }

  /** One statement, so `now()` and the snapshot are of the same moment. */
  private async statement(attempt: Attempt): Promise<Reservation | Facts> {
    const { scheduler } = this.db;
    await scheduler.step(`asks for ${attempt.seatIds.join(' ') || 'the rules'}`);
    const tx = this.db.begin();
    tx.takeSnapshot();
    try {
      const facts = await this.lockAndLook(tx, attempt);
      const won = facts === 'permitted' && (await this.write(tx, attempt));
      await tx.commit();
      if (won) return won;
      return facts === 'permitted' ? { ...this.rulesFor(tx, attempt.wish), gone: [], busy: [] } : facts;
    } catch (error) {
      delete this.transactions.keyInHand()?.stored;
      tx.rollback();
      throw error;
    }
  }

  private rulesFor(tx: SimulatedTransaction, { matchId, sessionToken }: HoldRequest): Pick<Facts, 'match' | 'window'> {
    const match = tx.get(tables.matches, matchId);
    const row = match?.queueRequired && sessionToken ? tx.get(tables.windows, sessionToken) : undefined;
    return { match, window: row && { ...row, isOver: row.expiresAtMs <= tx.now.getTime() } };
  }

  private async lockAndLook(tx: SimulatedTransaction, { wish, seatIds, fan }: Attempt): Promise<Facts | 'permitted'> {
    const rules = this.rulesFor(tx, wish);
    const nothing = { ...rules, gone: [], busy: [] };
    try {
      assertRules(wish, nothing, fan.taken);
    } catch {
      return nothing;
    }
    if (seatIds.length === 0) return nothing;
    const [gone, busy]: [string[], string[]] = [[], []];
    const decidedAt = tx.now.getTime() + this.guards.clockAheadMs;
    for (const seatId of [...seatIds].sort()) {
      await tx.statement(`locks seat ${seatId} unless it is locked`);
      const seat = await tx.lockUnlessLocked(tables.seats, seatId);
      if (seat === 'locked') busy.push(seatId);
      else if (!seat || (this.guards.seats && !isFree(seat, decidedAt))) gone.push(seatId);
    }
    return gone.length + busy.length > 0 ? { ...rules, gone, busy } : 'permitted';
  }

  /** Undefined when the fan was given seats since they were counted. */
  private async write(
    tx: SimulatedTransaction,
    { wish, reservationId, seatIds, together, fan }: Attempt,
  ): Promise<Reservation | undefined> {
    const { match, window } = this.rulesFor(tx, wish);
    const id = fanAtMatch(wish);
    await tx.statement(`moves on the revision of ${wish.userId}`);
    const row = await tx.lock(tables.fanSeats, id);
    if (row && row.revision !== fan.revision && this.guards.revision) return undefined;
    await tx.put(tables.fanSeats, id, { revision: fan.revision + 1, reservationIds: [...fan.living, reservationId] });
    const expiresAtMs = Math.min(tx.now.getTime() + this.holdMs, window?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    const key = this.transactions.keyInHand();
    const reservation: ReservationRow = {
      id: reservationId,
      matchId: wish.matchId,
      sectorId: wish.sector.id,
      userId: wish.userId,
      sessionToken: match?.queueRequired ? (wish.sessionToken ?? null) : null,
      status: 'held',
      together,
      seatIds,
      priceCents: wish.sector.priceCents,
      currency: wish.sector.currency,
      expiresAtMs,
      swept: false,
      madeByKey: this.transactions.requestKey() ?? null,
    };
    const made = asReservation(reservation, this.db, tx.now);
    if (key) {
      await tx.statement(`stores key ${key.key} with its answer`);
      key.stored = key.render(made as never);
      await tx.insertNew(idempotencyKeys, key.key, { key: key.key, userId: key.userId, answer: key.stored });
    }
    await tx.put(tables.reservations, reservationId, reservation);
    for (const seatId of seatIds) await tx.change(tables.seats, seatId, { status: 'held', reservationId, expiresAtMs });
    this.db.scheduler.expectMoment(expiresAtMs);
    return made;
  }
}

function emptySnapshot(seats: readonly SeatRow[]): Picture {
  const inOrder = [...seats].sort((a, b) => a.rowIndex - b.rowIndex || (a.number ?? a.rank) - (b.number ?? b.rank));
  const seatIds = inOrder.map(({ id }) => id);
  return { map: new SectorMap(inOrder), seatIds, inFlight: new Set(), nextExpiryMs: Number.POSITIVE_INFINITY };
}

function seatIndexesOf(picture: Picture, seatIds: readonly string[]): readonly number[] {
  return seatIds.map((seatId) => picture.seatIds.indexOf(seatId));
}

/** Sale, window, limit, in this order, in the words of the domain. */
function assertRules(wish: HoldRequest, { match, window }: Facts, taken: number): void {
  if (!match) throw new Error(`there is no match ${wish.matchId}`);
  const { saleStatus, queueRequired, maxTicketsPerFan: limit } = match;
  assertHoldsAllowed({ saleStatus, opensAt: null, queueRequired });
  if (queueRequired) assertWindowOpen(window, wish);
  assertWithinLimit({ limit, taken, wanted: requestedSeats(wish) });
}
