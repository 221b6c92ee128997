import { DomainError } from '#domain/shared/domain-error';
import { newId } from '#platform/ids';
import { RequestRefused } from '#platform/http/request-refused';
import { requestContext, type IdempotencyFence, type StoredAnswer } from '#platform/logging/request-context';
import { KeyAlreadyUsed } from '#platform/postgres/idempotency-fence';
import { sqlstateOf, sqlstates } from '#platform/postgres/sqlstates';
import {
  SeatHolds,
  wantedSeats,
  type HoldOutcome,
  type HoldWish,
  type Reservation,
  type SectorForSale,
} from '../application/ports.ts';
import { EXPIRY_PLACEHOLDER, HOLD_BATCH, holdParameters, type HoldResult, type HoldRow } from './hold-statement.ts';
import { assertRules, nothingKnown } from './hold-refusal.ts';
import { countFans, type FanSeats } from './postgres-fan-seats.ts';
import type { PostgresPurchaseWindows } from './postgres-purchase-windows.ts';
import type { SeatMaps, SectorPicture } from './seat-maps.ts';
import type { LaneConnection } from './lane-connection.ts';

/** One commit for so many: beyond it the statement grows faster than it saves. */
const MOST_IN_A_BATCH = 256;
/** Some seconds of work; whoever comes after that is better told to come back. */
const MOST_WAITING = 5000;
/** Who loses seats to another process is given others so often before being told that it is busy. */
const PROPOSALS = 5;

interface Waiting {
  readonly wish: HoldWish;
  readonly picture: SectorPicture;
  readonly fence: IdempotencyFence | undefined;
  readonly deadlineAt: number;
  readonly reservationId: string;
  readonly resolve: (outcome: HoldOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** Seats proposed for it in the batch under way. */
  seatIds: readonly string[];
  together: boolean;
  proposals: number;
  looked: boolean;
  /** What the caller will get, with the placeholder for the time of expiry. */
  answer?: StoredAnswer | undefined;
}

/**
 * Memory proposes, the database disposes. Wishes that wait are collected; seats are chosen for each in memory; one statement
 * takes for each all of its seats or none. The next batch leaves the moment the last one returned: alone in the morning a
 * wish waits for nobody, in the rush hundreds share one commit. Any number of processes may do this for the same match.
 */
export class BatchedSeatHolds extends SeatHolds {
  private readonly waiting: Waiting[] = [];
  private isRunning = false;

  constructor(
    private readonly connection: LaneConnection,
    private readonly maps: SeatMaps,
    private readonly windows: PostgresPurchaseWindows,
    private readonly holdSeconds: number,
    private readonly random: () => number = Math.random,
  ) {
    super();
  }

  async take(wish: HoldWish): Promise<HoldOutcome> {
    await this.windows.learn(wish);
    const picture = await this.maps.of(wish.sector.id);
    const context = requestContext.current();
    if (this.waiting.length >= MOST_WAITING) throw busyServer();
    return new Promise((resolve, reject) => {
      this.waiting.push({
        wish,
        picture,
        fence: context?.fence,
        deadlineAt: context?.deadlineAt ?? Number.POSITIVE_INFINITY,
        reservationId: newId(),
        resolve,
        reject,
        seatIds: [],
        together: true,
        proposals: 0,
        looked: false,
      });
      if (!this.isRunning) requestContext.exit(() => void this.run());
    });
  }

  /** Who waits is still answered, then the connections go. */
  async close(): Promise<void> {
    while (this.isRunning) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.connection.close();
  }

  /** Batch after batch until nobody waits. */
  private async run(): Promise<void> {
    this.isRunning = true;
    // Whoever asks in the same turn of the event loop shares the first batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      const batch = await this.collect();
      if (batch.length > 0) await this.decide(batch);
    }
    this.isRunning = false;
  }

  /** The next wishes with seats for each; one a fan, so that each is counted on its own. */
  private async collect(): Promise<Waiting[]> {
    const candidates = this.waiting.splice(0, MOST_IN_A_BATCH);
    await this.lookAgain(candidates);
    const fans = new Set<string>();
    const later: Waiting[] = [];
    const batch = candidates.filter((one) => {
      const fan = `${one.wish.matchId} ${one.wish.userId}`;
      if (fans.has(fan)) {
        later.push(one);
        return false;
      }
      fans.add(fan);
      if (Date.now() > one.deadlineAt) {
        one.reject(busyServer());
        return false;
      }
      this.propose(one);
      return true;
    });
    this.waiting.unshift(...later);
    return batch;
  }

  /** Looks into the database where memory is known to be behind, or has too few for somebody: a "no" is never memory's. */
  private async lookAgain(candidates: readonly Waiting[]): Promise<void> {
    const now = Date.now();
    const pictures = new Set<SectorPicture>();
    for (const one of candidates) {
      const tooFew = 'quantity' in one.wish && one.picture.map.freeCount < one.wish.quantity && !one.looked;
      if (!tooFew && !one.picture.isStale(now)) continue;
      one.looked = true;
      pictures.add(one.picture);
    }
    await Promise.all([...pictures].map((picture) => picture.look().catch(() => undefined)));
  }

  private propose(one: Waiting): void {
    one.proposals += 1;
    if ('seatIds' in one.wish) {
      one.seatIds = one.wish.seatIds;
      one.picture.claim(one.seatIds);
      return;
    }
    const proposal = one.picture.propose(one.wish.quantity, this.random);
    one.seatIds = proposal?.seatIds ?? [];
    one.together = proposal?.together ?? true;
  }

  private async decide(batch: readonly Waiting[]): Promise<void> {
    try {
      const fans = await this.connection.look<FanSeats>(countFans(batch.map(({ wish }) => wish)));
      const rows = batch.map((one, index) => this.row(one, fans[index] ?? { taken: 0, revision: 0 }));
      const results = await this.commit(rows);
      for (const result of results) this.settle(batch[result.index], result, fans[result.index]?.taken ?? 0);
    } catch (error) {
      for (const one of batch) one.picture.lost(one.seatIds, []);
      await this.afterError(batch, error);
    }
  }

  private commit(rows: readonly HoldRow[]): Promise<HoldResult[]> {
    const ids = rows.map(({ reservationId }) => reservationId);
    const statement = { name: 'hold-batch', text: HOLD_BATCH, values: holdParameters(rows, this.holdSeconds) };
    return this.connection.commit<HoldResult>(statement, async (client) => {
      const found = await client.query<{ id: string; expires_at: Date }>(
        `select id, expires_at from reservations where id = any($1::uuid[])`,
        [ids],
      );
      if (found.rows.length === 0) return undefined;
      // It was committed: those that are there were won; the others lost and simply ask again.
      const known = new Map(found.rows.map((row) => [row.id, row]));
      return rows.map(({ reservationId }, index) => ({
        index,
        expiresAtMs: known.get(reservationId)?.expires_at.getTime() ?? null,
        facts: null,
      }));
    });
  }

  /**
   * One bad wish never fails the others: a key used twice breaks the whole statement, so it is then run one by one. What
   * concerns all of them (no database, too much contention) is told to all: 256 attempts to connect would help nobody.
   */
  private async afterError(batch: readonly Waiting[], error: unknown): Promise<void> {
    const isDuplicate = sqlstateOf(error) === sqlstates.uniqueViolation;
    const concernsAll = error instanceof DomainError || error instanceof RequestRefused;
    if (batch.length > 1 && !concernsAll) {
      for (const one of batch) {
        this.propose(one);
        await this.decide([one]);
      }
      return;
    }
    for (const one of batch) one.reject(isDuplicate && one.fence ? new KeyAlreadyUsed(one.fence.key) : error);
  }

  private row(one: Waiting, fan: { taken: number; revision: number }): HoldRow {
    const { wish, fence } = one;
    one.answer = fence && one.seatIds.length > 0 ? fence.render?.(reservationOf(one, EXPIRY_PLACEHOLDER)) : undefined;
    const { answer } = one;
    return {
      reservationId: one.reservationId,
      matchId: wish.matchId,
      sectorId: wish.sector.id,
      sector: wish.sector.name,
      userId: wish.userId,
      sessionToken: wish.sessionToken ?? null,
      seatIds: one.seatIds,
      quantity: wantedSeats(wish),
      together: one.together,
      priceCents: wish.sector.priceCents,
      taken: fan.taken,
      revision: fan.revision,
      key:
        fence && answer
          ? { key: fence.key, fingerprint: fence.fingerprint, body: answer.body, location: answer.location ?? null }
          : null,
    };
  }

  private settle(one: Waiting | undefined, { expiresAtMs, facts }: HoldResult, taken: number): void {
    if (!one) return;
    if (expiresAtMs !== null) return this.won(one, new Date(expiresAtMs));
    const { gone, busy } = facts ?? nothingKnown;
    one.picture.lost(one.seatIds, gone, gone.length + busy.length > 0);
    try {
      assertRules(one.wish, facts ?? nothingKnown, taken);
    } catch (refusal) {
      return one.reject(refusal);
    }
    if (one.seatIds.length === 0) return one.resolve({ kind: 'none' });
    const isLost = gone.length + busy.length > 0;
    if (one.proposals >= PROPOSALS || (isLost && 'seatIds' in one.wish)) return one.resolve({ kind: 'lost', taken: gone, busy });
    // Lost to somebody faster, or counted while the fan got other seats: once more, from a corrected picture.
    this.waiting.push(one);
  }

  private won(one: Waiting, expiresAt: Date): void {
    one.picture.won(one.seatIds, expiresAt);
    const { fence, answer } = one;
    if (fence && answer) {
      fence.stored = { ...answer, body: answer.body.replace(EXPIRY_PLACEHOLDER.toISOString(), expiresAt.toISOString()) };
    }
    one.resolve({ kind: 'taken', reservation: reservationOf(one, expiresAt) });
  }
}

function busyServer(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'More buyers than can be served this moment. Nothing was changed; try again.');
}

/** The reservation a wish becomes with the seats proposed for it. */
function reservationOf(one: Waiting, expiresAt: Date): Reservation {
  const { wish } = one;
  const sector: SectorForSale = wish.sector;
  const seats = one.seatIds.map((seatId) => {
    const facts = one.picture.facts.get(seatId);
    return {
      seatId,
      sector: sector.name,
      row: facts?.row ?? null,
      number: facts?.number ?? null,
      priceCents: sector.priceCents,
    };
  });
  return {
    id: one.reservationId,
    matchId: wish.matchId,
    sectorId: sector.id,
    userId: wish.userId,
    sessionToken: wish.sessionToken ?? null,
    status: 'held',
    together: one.together,
    seats,
    totalCents: sector.priceCents * seats.length,
    currency: sector.currency,
    expiresAt,
  };
}
