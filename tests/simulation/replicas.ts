import type { SectorForSale } from '../../apps/monolith/src/purchase/application/ports.ts';
import { PlaceOrders } from '../../apps/monolith/src/purchase/checkout/application/place-orders.ts';
import { CheckOut } from '../../apps/monolith/src/purchase/checkout/application/check-out.ts';
import { ReleaseReservation } from '../../apps/monolith/src/purchase/checkout/application/release-reservation.ts';
import { ExpireReservations } from '../../apps/monolith/src/purchase/hold/application/expire-reservations.ts';
import { HoldSeats } from '../../apps/monolith/src/purchase/hold/application/hold-seats.ts';
import { SettlePayment } from '../../apps/monolith/src/purchase/settlement/application/settle-payment.ts';
import { MemoryMatches, MemorySectorReader } from '../../apps/monolith/src/purchase/testing/memory-catalog.ts';
import { MemoryOrders, MemoryPaymentInbox } from '../../apps/monolith/src/purchase/testing/memory-orders.ts';
import { MemoryOrderConsequences, MemoryPayments } from '../../apps/monolith/src/purchase/testing/memory-payments.ts';
import { MemoryReservations } from '../../apps/monolith/src/purchase/testing/memory-reservations.ts';
import { MemorySeatHolds } from '../../apps/monolith/src/purchase/testing/memory-seat-holds.ts';
import { tables, type SeatRow } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import {
  MemoryStreamCursors,
  MemoryWaitingRoom,
  MemoryWaitingRoomConsequences,
} from '../../apps/monolith/src/purchase/testing/memory-waiting-room.ts';
import { FollowWaitingRoom } from '../../apps/monolith/src/purchase/turns/application/follow-waiting-room.ts';
import type { Process, Scheduler } from '#testing/simulation/scheduler';
import { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { idempotencyKeys, KeyTaken, SimulatedTransactions, type CurrentKey } from '#testing/simulation/simulated-transactions';
import { ALL_QUOTA_PROTECTIONS, quotaUseCases, type QuotaProtections } from './quota-use-cases.ts';
import type { Style } from './styles.ts';

/** The protections of the purchase. A negative control switches one off, and the simulation must then find a fault. */
export interface Protections extends QuotaProtections {
  /** Row locks work, the second writer of a row must retry, and SERIALIZABLE is enforced. */
  readonly conflictDetection: boolean;
  /** Transactions are SERIALIZABLE. Off: REPEATABLE READ. */
  readonly serializable: boolean;
  /** The database checks that the seats which a process chose from its sector snapshot are free. */
  readonly seatGuard: boolean;
  /** Expiry is decided by the clock of the database. Off: by a process clock that is 300 ms ahead. */
  readonly databaseClock: boolean;
  /** The effect of a request commits together with a row of its idempotency key. */
  readonly idempotencyRow: boolean;
  /** A shared transaction (one for a whole batch) commits the answers of all its commands under their idempotency keys. */
  readonly batchesAnswer: boolean;
  /** A shared transaction skips locked rows instead of waiting for them. */
  readonly skipsLocked: boolean;
  /** A hold checks that the revision of the fan's row in `fan_seats` is still the one for which the fan's seats were counted. */
  readonly fanRevision: boolean;
  /** A fan who lets holds end unpaid gets no further one for a while. */
  readonly holdCooldown: boolean;
  /** A payment that arrives after its hold has expired checks the ticket limit. */
  readonly latePaymentLimit: boolean;
  /** A payment in its own transaction changes the fan's row in `fan_seats`, so that a concurrent hold notices it. */
  readonly singlePaymentCounts: boolean;
  /** A payment in a shared transaction changes the fan's row in `fan_seats`, so that a concurrent hold notices it. */
  readonly batchedPaymentCounts: boolean;
  /** A payment in a shared transaction checks that the fan's row in `fan_seats` still lists the paid reservation. */
  readonly batchedPaymentChecksFan: boolean;
  /** A unique index allows one order for each window of a turn. */
  readonly oneOrderAWindow: boolean;
  /** The inbox recognises repeated events of the provider. */
  readonly paymentInbox: boolean;
  /** The expiry sweeper locks the reservations that it ends. */
  readonly sweeperLocks: boolean;
  /**
   * The expiry sweeper locks reservations in one statement and ends them in a second one, which sees an order that was committed
   * before the sweeper got the lock.
   */
  readonly sweeperReadsAgain: boolean;
  /** The stored cursor in the waiting room's stream of events changes only by compare-and-set. */
  readonly cursorCompares: boolean;
}

/** Every protection is on, as in production. */
export const ALL_PROTECTIONS: Protections = {
  ...ALL_QUOTA_PROTECTIONS,
  conflictDetection: true,
  serializable: true,
  seatGuard: true,
  databaseClock: true,
  idempotencyRow: true,
  batchesAnswer: true,
  skipsLocked: true,
  fanRevision: true,
  holdCooldown: true,
  latePaymentLimit: true,
  singlePaymentCounts: true,
  batchedPaymentCounts: true,
  batchedPaymentChecksFan: true,
  oneOrderAWindow: true,
  paymentInbox: true,
  sweeperLocks: true,
  sweeperReadsAgain: true,
  cursorCompares: true,
};

/** The id of the only match of a simulated sale. */
export const MATCH_ID = 'match';
/** Duration of a hold in simulated time. */
export const HOLD_MS = 1000;

/** The cooldown after unpaid holds, in simulated time: as long as a hold. */
export const COOLDOWN = { after: 3, minHoldMs: HOLD_MS / 2, cooldownMs: HOLD_MS };

/** One simulated process of the monolith: the real use cases with their own seat snapshots. */
export interface Replica extends Process, ReturnType<typeof quotaUseCases> {
  readonly holdSeats: HoldSeats;
  readonly checkOut: CheckOut;
  readonly settlePayment: SettlePayment;
  readonly releaseReservation: ReleaseReservation;
  readonly expireReservations: ExpireReservations;
  readonly followWaitingRoom: FollowWaitingRoom;
}

/** The simulated system: one database, one provider, one waiting room, and replicas that start and crash. */
export class SimulatedSystem {
  readonly db: SimulatedDatabase;
  readonly transactions: SimulatedTransactions;
  readonly payments: MemoryPayments;
  readonly waitingRoom: MemoryWaitingRoom;
  readonly replicas: Replica[] = [];
  readonly sectors: readonly SectorForSale[];
  readonly capacity: number;
  readonly match: { readonly queueRequired: boolean; readonly maxTicketsPerFan: number };
  /** The sequence number of the commit that closed the sale for good. */
  closedAtSeq = Number.POSITIVE_INFINITY;
  /** Ids of payment intents that a fan has received. If the process crashed before its answer, no fan can pay the intent. */
  readonly intentsKnownToFans = new Set<string>();
  /** Number of refused cards for each order. The provider sends one event for each refused card. */
  readonly refusedCards = new Map<string, number>();
  private started = 0;

  constructor(
    readonly scheduler: Scheduler,
    readonly protections: Protections,
    readonly style: Style,
    spuriousFailures = scheduler.random.pick([0, 0, 0.05]),
  ) {
    scheduler.clockRate = style.clock * scheduler.random.next();
    this.match = { queueRequired: scheduler.random.chance(style.queue), maxTicketsPerFan: scheduler.random.between(2, 3) };
    const { conflictDetection: locks, serializable, skipsLocked, idempotencyRow: writesKeyRow, batchesAnswer } = protections;
    const strictness = { locks, serializable, skipsLocked, spuriousFailures };
    this.db = new SimulatedDatabase(scheduler, strictness);
    this.transactions = new SimulatedTransactions(this.db, { writesKeyRow, batchesAnswer });
    const { refuses = 0 } = style;
    this.payments = new MemoryPayments(this.db, this.transactions, () => refuses > 0 && scheduler.random.chance(refuses));
    this.waitingRoom = new MemoryWaitingRoom(this.db);
    this.db.seed(tables.matches, MATCH_ID, { id: MATCH_ID, saleStatus: 'open', ...this.match });
    this.sectors = [sector('east', 'seated'), sector('south', 'standing', refuses > 0 ? 0 : 2500)];
    const seats = [
      ...rows(
        'east',
        scheduler.random.pick(
          style.quotas
            ? [
                [4, 3],
                [5, 4],
              ]
            : [[3], [2, 2], [4, 3]],
        ),
      ),
      ...standingPlaces('south', scheduler.random.between(1, 3)),
    ];
    for (const seat of seats) this.db.seed(tables.seats, seat.id, seat);
    this.capacity = seats.length;
    this.start();
    this.start();
  }

  /** Starts a replica. It has no seat snapshot yet, so its first hold request reads the seats. */
  start(): Replica {
    this.started += 1;
    const { db, transactions, payments, protections, scheduler } = this;
    const guards = {
      seats: protections.seatGuard,
      revision: protections.fanRevision,
      clockAheadMs: protections.databaseClock ? 0 : 300,
    };
    const matches = new MemoryMatches(db, this.sectors);
    const reservations = new MemoryReservations(db, protections);
    const orders = new MemoryOrders(db, protections.oneOrderAWindow);
    const consequences = new MemoryOrderConsequences(db);
    const holds = new MemorySeatHolds(
      db,
      transactions,
      this.waitingRoom,
      HOLD_MS,
      guards,
      protections.holdCooldown ? COOLDOWN : undefined,
    );
    const inbox = new MemoryPaymentInbox(protections.paymentInbox);
    const cursors = new MemoryStreamCursors(db, protections.cursorCompares);
    const placeOrders = new PlaceOrders(reservations, orders, { next: () => scheduler.newId('o') }, matches);
    const parts = { db, transactions, matches, reservations, orders, consequences, holdMs: HOLD_MS, protections };
    const replica: Replica = {
      ...quotaUseCases(parts),
      name: `p${this.started}`,
      frozenUntil: 0,
      steps: 0,
      holdSeats: new HoldSeats(matches, new MemorySectorReader(db), holds, { has: () => false }),
      checkOut: new CheckOut(transactions, placeOrders, reservations, orders, payments, consequences),
      settlePayment: new SettlePayment(transactions, inbox, orders, reservations, matches, consequences),
      releaseReservation: new ReleaseReservation(transactions, reservations, orders, consequences),
      expireReservations: new ExpireReservations(reservations),
      followWaitingRoom: new FollowWaitingRoom(transactions, this.waitingRoom, cursors, new MemoryWaitingRoomConsequences(db)),
    };
    this.replicas.push(replica);
    return replica;
  }

  crash(replica: Replica): void {
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    this.scheduler.crash(replica);
  }

  /** Runs a request with an idempotency key like the HTTP layer: a known key returns its stored answer. */
  async answer<R>(key: CurrentKey, work: () => Promise<R>): Promise<unknown> {
    await this.scheduler.step(`looks up key ${key.key}`);
    const stored = this.db.read(idempotencyKeys, key.key);
    if (stored) return stored.answer;
    try {
      const result = await this.transactions.under(key, work);
      return key.stored ?? key.render(result as never);
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      await this.scheduler.step(`reads the answer of key ${key.key}`);
      const first = this.db.read(idempotencyKeys, key.key);
      if (!first) throw new Error(`key ${key.key} is taken but has no row`, { cause: error });
      return first.answer;
    }
  }

  anyReplica(): Replica {
    return this.scheduler.random.pick(this.replicas);
  }
}

function sector(id: string, kind: 'seated' | 'standing', priceCents = 2500): SectorForSale {
  return { id, matchId: MATCH_ID, name: id, kind, gate: null, wheelchair: false, priceCents, currency: 'EUR', capacity: 0 };
}

const unsoldSeat = {
  matchId: MATCH_ID,
  status: 'available',
  reservationId: null,
  expiresAtMs: null,
  quotaId: null,
  boundTo: null,
} as const;

function rows(sectorId: string, lengths: readonly number[]): SeatRow[] {
  return lengths.flatMap((length, rowIndex) =>
    Array.from({ length }, (_, index) => {
      const row = 'ABC'[rowIndex] ?? 'Z';
      return { ...unsoldSeat, id: `${row}${index + 1}`, sectorId, row, number: index + 1, rowIndex, rank: rowIndex * 10 + index };
    }),
  );
}

function standingPlaces(sectorId: string, length: number): SeatRow[] {
  return Array.from({ length }, (_, rank) => ({
    ...unsoldSeat,
    id: `S${rank}`,
    sectorId,
    row: null,
    number: null,
    rowIndex: 0,
    rank,
  }));
}
