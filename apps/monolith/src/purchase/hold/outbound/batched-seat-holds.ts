import { DomainError } from '#domain/shared/domain-error';
import { RequestRefused } from '#platform/http/request-refused';
import { requestContext } from '#platform/logging/request-context';
import { KeyAlreadyUsed } from '#platform/postgres/idempotency-row';
import { sqlstateOf, sqlstates } from '#platform/postgres/sqlstates';
import type { PostgresPurchaseWindows } from '../../turns/outbound/postgres-purchase-windows.ts';
import { SeatHolds, wantedSeats, type HoldOutcome, type HoldRequest } from '../application/ports.ts';
import { HoldBatches, type HoldResult } from './hold-batches.ts';
import { assertRules, nothingKnown } from './hold-refusal.ts';
import type { WriterConnection } from './writer-connection.ts';
import { NEWCOMER } from './postgres-fan-seats.ts';
import type { SectorSnapshots } from './sector-snapshots.ts';
import type { SeatChangeBroadcast } from './seat-change-broadcast.ts';
import type { SectorSnapshot } from './sector-snapshot.ts';
import { holdRow, isKnownByNow, queuedHold, wonReservation, type QueuedHold } from './queued-hold.ts';
import { HoldBuffer } from './hold-buffer.ts';
import type { HoldFacts } from './why-not-held.ts';

/** Some seconds of work; whoever comes after that is better told to come back. */
const MOST_WAITING = 5000;
/** A payment that is being settled keeps its fan's row for milliseconds; longer, and something hangs. */
const PATIENCE_WITH_FAN_MS = 2000;
/** Who loses seats to another process is given others so often before being told that it is busy. */
const PROPOSALS = 5;

/**
 * Memory proposes, the database disposes. Wishes that wait are collected; seats are chosen for each in memory; one statement
 * takes for each all of its seats or none. The next batch leaves the moment the last one returned: alone in the morning a
 * wish waits for nobody, in the rush hundreds share one commit, and while one lane commits another chooses. Any number of
 * processes may do this for the same match.
 */
export class BatchedSeatHolds extends SeatHolds {
  private readonly lanes: readonly HoldBatches[];
  private readonly idle: HoldBatches[];
  private readonly waiting = new HoldBuffer();
  /** Wishes that will come back by themselves. */
  private away = 0;

  constructor(
    connections: readonly WriterConnection[],
    private readonly maps: SectorSnapshots,
    private readonly windows: PostgresPurchaseWindows,
    holdSeconds: number,
    private readonly news?: SeatChangeBroadcast,
    private readonly random: () => number = Math.random,
  ) {
    super();
    this.lanes = connections.map((connection) => new HoldBatches(connection, holdSeconds));
    this.idle = [...this.lanes];
  }

  take(wish: HoldRequest): Promise<HoldOutcome> {
    const known = this.maps.loadedOf(wish.sector.id);
    return known ? this.join(wish, known) : this.maps.of(wish.sector.id).then((picture) => this.join(wish, picture));
  }

  /** Who waits is still answered, then the connections go. */
  async close(): Promise<void> {
    while (this.idle.length < this.lanes.length || this.away > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await Promise.all(this.lanes.map((lane) => lane.close()));
  }

  private join(wish: HoldRequest, picture: SectorSnapshot): Promise<HoldOutcome> {
    return new Promise((resolve, reject) => {
      if (this.waiting.count >= MOST_WAITING) throw busyServer();
      this.waiting.add(queuedHold(wish, picture, { resolve, reject }));
      this.start();
    });
  }

  private start(): void {
    const lane = this.waiting.areWorthABatch ? this.idle.pop() : undefined;
    if (lane) requestContext.exit(() => void this.run(lane));
  }

  /** Batch after batch until nobody waits, or the other lanes are quicker. */
  private async run(lane: HoldBatches): Promise<void> {
    for (;;) {
      // Whoever asks in the same turn of the event loop shares a batch; so do those who ask again after the last one.
      await new Promise((resolve) => setImmediate(resolve));
      const wishes = this.waiting.take();
      if (wishes.length === 0) break;
      // What is left may be worth a batch now that less is being decided, and nobody else may come who would say so.
      this.start();
      const batch = await this.choose(wishes);
      if (batch.length > 0) await this.decide(lane, batch);
      this.waiting.done(wishes);
    }
    this.idle.push(lane);
  }

  /** Seats for each of those who still have time. */
  private async choose(wishes: readonly QueuedHold[]): Promise<readonly QueuedHold[]> {
    await this.lookAgain(wishes);
    const now = Date.now();
    const share = this.news?.share(now);
    return wishes.filter((one) => {
      if (now > one.deadlineAt) {
        one.reject(busyServer());
        return false;
      }
      this.propose(one, share);
      return true;
    });
  }

  /** Looks into the database where memory is known to be behind, or has too few for somebody: a "no" is never memory's. */
  private async lookAgain(candidates: readonly QueuedHold[]): Promise<void> {
    const now = Date.now();
    const pictures = new Set<SectorSnapshot>();
    for (const one of candidates) {
      const tooFew = !one.named && one.picture.map.freeCount < wantedSeats(one.wish) && !one.looked;
      if (!tooFew && !one.mustRefresh && !one.picture.isStale(now)) continue;
      one.looked = true;
      one.mustRefresh = false;
      pictures.add(one.picture);
    }
    await Promise.all([...pictures].map((picture) => picture.look().catch(() => undefined)));
  }

  private propose(one: QueuedHold, share = this.news?.share()): void {
    one.proposals += 1;
    if (one.named) {
      one.rivals = one.picture.proposedAmong(one.named);
      one.seats = one.rivals.length > 0 ? [] : one.named;
      one.picture.claim(one.seats);
      one.together = one.picture.map.areTogether(one.seats);
      return;
    }
    const proposal = one.picture.propose(wantedSeats(one.wish), this.random, share);
    one.seats = proposal?.places ?? [];
    one.together = proposal?.together ?? true;
  }

  private async decide(lane: HoldBatches, batch: readonly QueuedHold[]): Promise<void> {
    let results: readonly HoldResult[];
    try {
      await this.ask(lane, batch.filter(isKnownByNow));
      results = await lane.take(batch.map(holdRow));
    } catch (error) {
      for (const one of batch) one.picture.lost(one.seats, []);
      return this.afterError(lane, batch, error);
    }
    const winners: QueuedHold[] = [];
    let until = 0;
    for (let at = 0; at < batch.length; at += 1) {
      const result = results[at]!;
      if (!('expiresAt' in result)) continue;
      winners.push(batch[at]!);
      this.won(batch[at]!, result.expiresAt);
      until = result.expiresAt.getTime();
    }
    if (winners.length > 0) this.news?.tell(() => seatsOf(winners), until);
    if (winners.length === batch.length) return;
    for (let at = 0; at < batch.length; at += 1) {
      const result = results[at]!;
      if ('facts' in result) this.lost(batch[at]!, result.facts ?? nothingKnown, winners);
    }
  }

  /**
   * What a first attempt does without, because most come for the first time and with a turn we have heard of: how many seats
   * the fan has, and whether the waiting room granted a turn nobody told us of. A first attempt that fails for whatever
   * reason is therefore no answer yet.
   */
  private async ask(lane: HoldBatches, batch: readonly QueuedHold[]): Promise<void> {
    if (batch.length === 0) return;
    const learning = Promise.all(batch.map(({ wish }) => this.windows.learn(wish)));
    // Without Redis it fails while we look; that is heard of below.
    learning.catch(() => undefined);
    const fans = await lane.fans(batch.map(({ wish }) => wish));
    for (const [index, one] of batch.entries()) one.fan = fans[index] ?? NEWCOMER;
    await learning;
  }

  /**
   * One bad wish never fails the others: a key used twice breaks the whole statement, so the others are run again without
   * it, and one by one should that not have been all. What concerns all of them (no database, too much contention) is told
   * to all: 256 attempts to connect would help nobody.
   */
  private async afterError(lane: HoldBatches, batch: readonly QueuedHold[], error: unknown): Promise<void> {
    const isDuplicate = sqlstateOf(error) === sqlstates.uniqueViolation;
    const concernsAll = error instanceof DomainError || error instanceof RequestRefused;
    if (batch.length === 1 || concernsAll) {
      for (const one of batch) one.reject(isDuplicate && one.fence ? new KeyAlreadyUsed(one.fence.key) : error);
      return;
    }
    const used = isDuplicate ? await usedKeys(lane, batch) : new Set();
    const others = batch.filter(({ fence, reject }) => {
      if (!fence || !used.has(fence.key)) return true;
      reject(new KeyAlreadyUsed(fence.key));
      return false;
    });
    const batches = used.size > 0 && others.length > 0 ? [others] : others.map((one) => [one]);
    for (const again of batches) {
      for (const one of again) this.propose(one);
      await this.decide(lane, again);
    }
  }

  private lost(one: QueuedHold, facts: HoldFacts, winners: readonly QueuedHold[]): void {
    one.mustRefresh = facts.moved.length > 0;
    const gone = [...facts.gone, ...rivalsOf(one, winners)];
    const isLost = gone.length + facts.busy.length > 0;
    one.picture.lost(one.seats, facts.gone, facts.gone.length + facts.busy.length > 0);
    if (!isKnownByNow(one)) return this.waiting.addAgain(one);
    try {
      assertRules(one.wish, facts, one.fan.taken);
    } catch (refusal) {
      return one.reject(refusal);
    }
    if (one.seats.length === 0 && !one.named) return one.resolve({ kind: 'none' });
    if (!isLost && facts.fanBusy && this.comesBack(one)) return;
    if (one.proposals >= PROPOSALS || (isLost && !one.mustRefresh && one.named))
      return one.resolve({ kind: 'lost', taken: gone, busy: [...facts.busy, ...facts.moved] });
    // Lost to somebody faster, or counted while the fan got other seats: once more, from a corrected picture, before those who
    // came later.
    this.waiting.addAgain(one);
  }

  /** The fan's row is locked, mostly for a millisecond: a pause, which does not count as a proposal. */
  private comesBack(one: QueuedHold): boolean {
    one.busySince ??= Date.now();
    if (Date.now() - one.busySince > PATIENCE_WITH_FAN_MS) return false;
    one.proposals = 1;
    this.away += 1;
    setTimeout(
      () => {
        this.away -= 1;
        this.waiting.addAgain(one);
        this.start();
      },
      50 + this.random() * 50,
    );
    return true;
  }

  private won(one: QueuedHold, expiresAt: Date): void {
    one.picture.won(one.seats, expiresAt.getTime());
    const reservation = wonReservation(one, expiresAt);
    if (one.fence) one.fence.stored = one.fence.render?.(reservation);
    one.resolve({ kind: 'taken', reservation });
  }
}

function busyServer(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'More buyers than can be served this moment. Nothing was changed; try again.');
}

/** Of the seats it named those that one of these has won. */
function rivalsOf({ rivals, picture }: QueuedHold, winners: readonly QueuedHold[]): string[] {
  const isWon = (seat: number): boolean => winners.some((winner) => winner.picture === picture && winner.seats.includes(seat));
  return rivals.filter(isWon).map((seat) => picture.idOf(seat));
}

/** Ids by sector. */
function seatsOf(winners: readonly QueuedHold[]): Record<string, string[]> {
  const taken: Record<string, string[]> = {};
  for (const { wish, picture, seats } of winners)
    for (const seat of seats) (taken[wish.sector.id] ??= []).push(picture.idOf(seat));
  return taken;
}

function usedKeys(lane: HoldBatches, batch: readonly QueuedHold[]): Promise<ReadonlySet<string>> {
  return lane.used(batch.flatMap(({ fence }) => fence?.key ?? [])).catch(() => new Set());
}
