import { DomainError } from '#domain/shared/domain-error';
import type { SectorShare } from '#domain/purchase/sector-map';
import { RequestRefused } from '#platform/http/request-refused';
import { KeyAlreadyUsed } from '#application/idempotency-key';
import { sqlstateOf, sqlstates } from '#platform/postgres/sqlstates';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MatchesForSale } from '../../application/sale-ports.ts';
import { requestedSeats, type SeatHolds, type HoldOutcome, type HoldRequest } from '../application/ports.ts';
import { FAN_WITHOUT_SEATS } from './fan-seats.sql.ts';
import { assertRules, UNKNOWN_FACTS } from './hold-refusal.ts';
import { HoldWriter, type HoldResult } from './hold-writer.ts';
import { isFanCounted, pendingHold, PendingHolds, reservationOf, type PendingHold } from './pending-holds.ts';
import { refreshSnapshots } from './refresh-snapshots.ts';
import type { SectorSnapshot, SectorSnapshots } from './sector-snapshot.ts';
import type { HoldFacts } from './why-not-held.sql.ts';
import type { WriterConnection } from './writer-connection.ts';

/** Maximum number of waiting requests: some seconds of work. Further requests are told to try again. */
const MAX_WAITING = 5000;
/** How long a request waits while another transaction has locked its fan's row. Such a lock normally lasts milliseconds. */
const FAN_BUSY_TIMEOUT_MS = 2000;
/** How often seats are proposed for a request. If other buyers were faster each time, the request is refused. */
const MAX_ATTEMPTS = 5;

/** The seats that processes broadcast to each other. They are only hints: with them, processes rarely propose the same seats. */
export interface SeatChanges {
  /** The part of a sector that this process proposes first while several processes sell; undefined when it sells alone. */
  share(now: number): SectorShare | undefined;
  /** Tells other processes which seats (ids by sector) this process holds now. They may be free again at `untilMs`. */
  tell(taken: () => Readonly<Record<string, readonly string[]>>, untilMs: number): void;
}

/** What a hold queue needs: writer connections, snapshots of the seats, and ports to other modules. */
export interface HoldQueueOptions {
  /** While a batch is committed on one writer connection, the next batch is prepared for another. */
  readonly connections: readonly WriterConnection[];
  readonly holdSeconds: number;
  readonly snapshots: SectorSnapshots;
  /** Stores a turn that PostgreSQL does not know yet, if the waiting room has granted it. */
  readonly turns: { learn(request: HoldRequest): Promise<void> };
  readonly matches: Pick<MatchesForSale, 'sectors'>;
  readonly changes?: SeatChanges;
  readonly random?: () => number;
}

/**
 * The hold queue of one process. Requests wait until a writer connection is free. Then up to 256 of them share one statement and
 * one commit. The snapshot in memory proposes seats, the database decides. Any number of processes may sell the same match.
 *
 *                 hold()                takeBatch + propose           HOLD_BATCH
 *     (request) ─────────▶  WAITING  ──────────────────▶  PROPOSED  ──────────▶  HELD     answered with the reservation
 *                             ▲  ▲                            │
 *                             │  └──────── retry ─────────────┼──────────────▶  REFUSED  answered with a broken rule,
 *                             │                               │                          'lost' or 'none'
 *                             └─────  PAUSED 50–100 ms  ◀─────┘
 *                                     the fan's row is locked
 *
 * - The first attempt assumes the common case: a fan without seats, and a turn that PostgreSQL knows. If it fails for any reason,
 *   the request waits again at the front, and the second attempt counts the fan's seats and looks up the turn (`count`). So a
 *   failed first attempt never refuses the request.
 * - A retry proposes other seats from a corrected snapshot. There are at most MAX_ATTEMPTS attempts. Seats that the fan chose are
 *   never replaced by other seats.
 * - WAITING requests whose deadline has passed are refused with LOCK_TIMEOUT when a batch is made of them.
 */
export class HoldQueue implements SeatHolds {
  private readonly writers: readonly HoldWriter[];
  private readonly idleWriters: HoldWriter[];
  private readonly pending = new PendingHolds();
  private readonly matchesWithSnapshots = new Set<string>();
  private readonly random: () => number;
  /** Batches must not run in the context of the request that happened to start them. */
  private readonly outsideRequests = AsyncLocalStorage.snapshot();
  private paused = 0;

  constructor(private readonly options: HoldQueueOptions) {
    this.writers = options.connections.map((connection) => new HoldWriter(connection, options.holdSeconds));
    this.idleWriters = [...this.writers];
    this.random = options.random ?? Math.random;
  }

  hold(request: HoldRequest): Promise<HoldOutcome> {
    const { matchId, sector } = request;
    if (!this.matchesWithSnapshots.has(matchId))
      void this.loadSnapshots(matchId).catch(() => this.matchesWithSnapshots.delete(matchId));
    const snapshot = this.options.snapshots.get(sector.id);
    if (snapshot) return this.add(request, snapshot);
    return this.options.snapshots.forceFetch(sector.id).then((loaded) => this.add(request, loaded));
  }

  /** Answers the requests in the queue, then closes the connections. Nest calls it when the process stops. */
  async onApplicationShutdown(): Promise<void> {
    while (this.idleWriters.length < this.writers.length || this.paused > 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await Promise.all(this.writers.map((writer) => writer.close()));
  }

  /**
   * Loads the snapshots of all sectors at the first request of a match. Otherwise the first buyer of each sector would wait 25 ms.
   */
  private async loadSnapshots(matchId: string): Promise<void> {
    this.matchesWithSnapshots.add(matchId);
    for (const { id } of await this.options.matches.sectors(matchId)) await this.options.snapshots.forceFetch(id);
  }

  private add(request: HoldRequest, snapshot: SectorSnapshot): Promise<HoldOutcome> {
    return new Promise((resolve, reject) => {
      if (this.pending.count >= MAX_WAITING) throw tooManyRequests();
      this.pending.add(pendingHold(request, snapshot, { resolve, reject }));
      this.startBatches();
    });
  }

  private startBatches(): void {
    const writer = this.pending.isBatchWorthwhile ? this.idleWriters.pop() : undefined;
    if (writer) this.outsideRequests(() => void this.runBatches(writer));
  }

  /** Runs batch after batch with this writer, until `takeBatch` has no batch for it. */
  private async runBatches(writer: HoldWriter): Promise<void> {
    for (;;) {
      // Wait one tick of the event loop, so that requests of the same tick share a batch. Fans who were answered by the last
      // batch and ask for more seats at once share it too.
      await new Promise((resolve) => setImmediate(resolve));
      const taken = this.pending.takeBatch();
      if (taken.length === 0) break;
      // The requests that still wait may be worth a second batch beside this one. Start it now, because perhaps no later
      // request arrives to start it.
      this.startBatches();
      const batch = await this.proposeSeats(taken);
      if (batch.length > 0) await this.decide(writer, batch);
      this.pending.batchDone(taken);
    }
    this.idleWriters.push(writer);
  }

  private async proposeSeats(taken: readonly PendingHold[]): Promise<readonly PendingHold[]> {
    await refreshSnapshots(taken);
    const now = Date.now();
    const share = this.options.changes?.share(now);
    return taken.filter((hold) => {
      const isLate = now > (hold.request.deadlineAtMs ?? Number.POSITIVE_INFINITY);
      if (isLate) hold.reject(tooManyRequests());
      else this.propose(hold, share);
      return !isLate;
    });
  }

  private propose(hold: PendingHold, share = this.options.changes?.share(Date.now())): void {
    const { chosen, snapshot, request } = hold;
    hold.attempts += 1;
    if (chosen) {
      hold.contested = snapshot.beingDecided(chosen);
      hold.proposed = hold.contested.length > 0 ? [] : chosen;
      snapshot.proposeChosen(hold.proposed);
      hold.together = snapshot.map.areTogether(hold.proposed);
      return;
    }
    const proposal = snapshot.propose(requestedSeats(request), this.random, share);
    hold.proposed = proposal?.seats ?? [];
    hold.together = proposal?.together ?? true;
  }

  private async decide(writer: HoldWriter, batch: readonly PendingHold[]): Promise<void> {
    let results: readonly HoldResult[];
    try {
      await this.count(writer, batch.filter(isFanCounted));
      results = await writer.hold(batch);
    } catch (error) {
      for (const { snapshot, proposed } of batch) snapshot.notHeld(proposed, []);
      return this.afterError(writer, batch, error);
    }
    const winners: PendingHold[] = [];
    let expiresAtMs = 0;
    for (const [at, hold] of batch.entries()) {
      const result = results[at]!;
      if (!('expiresAt' in result)) continue;
      expiresAtMs = result.expiresAt.getTime();
      winners.push(hold);
      hold.snapshot.held(hold.proposed, expiresAtMs);
      hold.resolve({ kind: 'held', reservation: reservationOf(hold, result.expiresAt) });
    }
    if (winners.length > 0) this.options.changes?.tell(() => seatIdsBySector(winners), expiresAtMs);
    for (const [at, hold] of batch.entries()) {
      const result = results[at]!;
      if ('facts' in result) this.retryOrRefuse(hold, result.facts ?? UNKNOWN_FACTS, winners);
    }
  }

  /** Counts the fans' seats, and stores turns that the waiting room has granted but PostgreSQL does not know yet. */
  private async count(writer: HoldWriter, holds: readonly PendingHold[]): Promise<void> {
    if (holds.length === 0) return;
    const learning = Promise.all(holds.map(({ request }) => this.options.turns.learn(request)));
    // Without Redis `learning` fails while the seats are still counted. The `await` below throws its error; this handler only
    // prevents an unhandled rejection before.
    learning.catch(() => undefined);
    const fans = await writer.countFanSeats(holds.map(({ request }) => request));
    for (const [index, hold] of holds.entries()) hold.fan = fans[index] ?? FAN_WITHOUT_SEATS;
    await learning;
  }

  /**
   * Handles the error of a whole batch, so that one bad request never fails the other requests. If an idempotency key was used
   * before, its request is refused and the batch runs again without it. After any other error of a single request, the requests
   * run one by one. An error that concerns all requests (no database, too much contention) is the answer to all of them: 256 more
   * attempts to connect would not help.
   */
  private async afterError(writer: HoldWriter, batch: readonly PendingHold[], error: unknown): Promise<void> {
    const isDuplicateKey = sqlstateOf(error) === sqlstates.uniqueViolation;
    const concernsAll = error instanceof DomainError || error instanceof RequestRefused;
    if (batch.length === 1 || concernsAll) {
      for (const { request, reject } of batch)
        reject(isDuplicateKey && request.idempotencyKey ? new KeyAlreadyUsed(request.idempotencyKey.key) : error);
      return;
    }
    const keys = batch.flatMap(({ request }) => request.idempotencyKey?.key ?? []);
    const usedKeys = isDuplicateKey ? await writer.usedKeys(keys).catch(() => new Set<string>()) : new Set<string>();
    const others = batch.filter(({ request, reject }) => {
      const key = request.idempotencyKey?.key;
      if (key === undefined || !usedKeys.has(key)) return true;
      reject(new KeyAlreadyUsed(key));
      return false;
    });
    const batches = usedKeys.size > 0 && others.length > 0 ? [others] : others.map((hold) => [hold]);
    for (const again of batches) {
      for (const hold of again) this.propose(hold);
      await this.decide(writer, again);
    }
  }

  private retryOrRefuse(hold: PendingHold, facts: HoldFacts, winners: readonly PendingHold[]): void {
    const { request, snapshot, proposed, chosen } = hold;
    const gone = [...facts.gone, ...wonByOthers(hold, winners)];
    const isLost = gone.length + facts.busy.length > 0;
    hold.mustRefresh = facts.moved.length > 0;
    snapshot.notHeld(proposed, facts.gone, facts.gone.length + facts.busy.length > 0);
    if (!isFanCounted(hold)) return this.pending.addFirst(hold);
    try {
      assertRules(request, facts, hold.fan.taken);
    } catch (brokenRule) {
      return hold.reject(brokenRule);
    }
    if (proposed.length === 0 && !chosen) return hold.resolve({ kind: 'none' });
    if (!isLost && facts.fanBusy && this.pauseForFan(hold)) return;
    const isFinal = isLost && !hold.mustRefresh && chosen !== undefined;
    if (hold.attempts < MAX_ATTEMPTS && !isFinal) return this.pending.addFirst(hold);
    hold.resolve({ kind: 'lost', taken: gone, busy: [...facts.busy, ...facts.moved] });
  }

  /**
   * Tries the request again after a pause, without using up its attempts. False when the fan's row has been locked for too long.
   */
  private pauseForFan(hold: PendingHold): boolean {
    hold.fanBusySince ??= Date.now();
    if (Date.now() - hold.fanBusySince > FAN_BUSY_TIMEOUT_MS) return false;
    hold.attempts = 1;
    this.paused += 1;
    const resume = (): void => {
      this.paused -= 1;
      this.pending.addFirst(hold);
      this.startBatches();
    };
    setTimeout(resume, 50 + this.random() * 50);
    return true;
  }
}

function tooManyRequests(): DomainError {
  return new DomainError('LOCK_TIMEOUT', 'More buyers than can be served this moment. Nothing was changed; try again.');
}

/** Ids of the chosen seats that another request of the same batch has won. */
function wonByOthers({ contested, snapshot }: PendingHold, winners: readonly PendingHold[]): string[] {
  const isWon = (seat: number): boolean =>
    winners.some((winner) => winner.snapshot === snapshot && winner.proposed.includes(seat));
  return contested.filter(isWon).map((seat) => snapshot.idOf(seat));
}

function seatIdsBySector(holds: readonly PendingHold[]): Record<string, string[]> {
  const seatIds: Record<string, string[]> = {};
  for (const { request, snapshot, proposed } of holds)
    for (const seat of proposed) (seatIds[request.sector.id] ??= []).push(snapshot.idOf(seat));
  return seatIds;
}
