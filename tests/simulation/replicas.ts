import type { SectorForSale } from '../../apps/monolith/src/purchase/application/ports.ts';
import { CheckOut } from '../../apps/monolith/src/purchase/checkout/application/check-out.ts';
import { ReleaseReservation } from '../../apps/monolith/src/purchase/checkout/application/release-reservation.ts';
import { ExpireReservations } from '../../apps/monolith/src/purchase/hold/application/expire-reservations.ts';
import { HoldSeats } from '../../apps/monolith/src/purchase/hold/application/hold-seats.ts';
import { SettlePayment } from '../../apps/monolith/src/purchase/settlement/application/settle-payment.ts';
import { MemoryMatches, MemorySeatInventory } from '../../apps/monolith/src/purchase/testing/memory-catalog.ts';
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
import { idempotencyKeys, KeyTaken, SimulatedTransactions, type KeyInHand } from '#testing/simulation/simulated-transactions';
import type { Style } from './styles.ts';

/** What protects a purchase; a negative control switches one of them off and must be found out. */
export interface Protections {
  /** Rows are locked, the second writer of one starts anew, and SERIALIZABLE holds. */
  readonly conflictDetection: boolean;
  /** Off: REPEATABLE READ. */
  readonly serializable: boolean;
  /** The database looks whether the seats that memory proposes are free. */
  readonly seatGuard: boolean;
  /** Expiry is decided on the database's clock; off, on one that is ahead. */
  readonly databaseClock: boolean;
  readonly idempotencyRow: boolean;
  /** What is decided together is answered under its keys, in its commit. */
  readonly batchesAnswer: boolean;
  /** What is decided together waits for nobody. */
  readonly skipsLocked: boolean;
  readonly fanRevision: boolean;
  readonly lateLimit: boolean;
  readonly paidCounts: boolean;
  readonly sharedPaidCounts: boolean;
  readonly sharedPaidListed: boolean;
  readonly oneOrderAWindow: boolean;
  readonly paymentInbox: boolean;
  readonly sweeperLocks: boolean;
  readonly sweeperLooksAgain: boolean;
  readonly cursorCompares: boolean;
}

export const ALL_PROTECTIONS: Protections = {
  conflictDetection: true,
  serializable: true,
  seatGuard: true,
  databaseClock: true,
  idempotencyRow: true,
  batchesAnswer: true,
  skipsLocked: true,
  fanRevision: true,
  lateLimit: true,
  paidCounts: true,
  sharedPaidCounts: true,
  sharedPaidListed: true,
  oneOrderAWindow: true,
  paymentInbox: true,
  sweeperLocks: true,
  sweeperLooksAgain: true,
  cursorCompares: true,
};

export const MATCH = 'match';
export const HOLD_MS = 1000;

/** One process of the monolith: the real use cases, with a memory of its own. */
export interface Replica extends Process {
  readonly holdSeats: HoldSeats;
  readonly checkOut: CheckOut;
  readonly settlePayment: SettlePayment;
  readonly releaseReservation: ReleaseReservation;
  readonly expireReservations: ExpireReservations;
  readonly followWaitingRoom: FollowWaitingRoom;
}

/** One database, one provider, one waiting room, and replicas that come and go. */
export class Shop {
  readonly db: SimulatedDatabase;
  readonly transactions: SimulatedTransactions;
  readonly payments: MemoryPayments;
  readonly waitingRoom: MemoryWaitingRoom;
  readonly replicas: Replica[] = [];
  readonly sectors: readonly SectorForSale[];
  readonly capacity: number;
  readonly match: { readonly queueRequired: boolean; readonly maxTicketsPerFan: number };
  /** The sale was closed by that commit, for good. */
  closedAtSeq = Number.POSITIVE_INFINITY;
  /** Intents that fans were told of; one that died with its process before that, nobody can pay. */
  readonly toldIntents = new Set<string>();
  /** How often the provider was asked for each order in vain, each time with an event of its own. */
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
    const { conflictDetection: locks, serializable, skipsLocked, idempotencyRow: fences, batchesAnswer } = protections;
    const strictness = { locks, serializable, skipsLocked, spuriousFailures };
    this.db = new SimulatedDatabase(scheduler, strictness);
    this.transactions = new SimulatedTransactions(this.db, { fences, batchesAnswer });
    const { refuses = 0 } = style;
    this.payments = new MemoryPayments(this.db, this.transactions, () => refuses > 0 && scheduler.random.chance(refuses));
    this.waitingRoom = new MemoryWaitingRoom(this.db);
    this.db.seed(tables.matches, MATCH, { id: MATCH, saleStatus: 'open', ...this.match });
    this.sectors = [sector('east', 'seated'), sector('south', 'standing', refuses > 0 ? 0 : 2500)];
    const seats = [
      ...rows('east', scheduler.random.pick([[3], [2, 2], [4, 3]])),
      ...places('south', scheduler.random.between(1, 3)),
    ];
    for (const seat of seats) this.db.seed(tables.seats, seat.id, seat);
    this.capacity = seats.length;
    this.start();
    this.start();
  }

  /** Its map is empty: the first wish looks. */
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
    const holds = new MemorySeatHolds(db, transactions, this.waitingRoom, HOLD_MS, guards);
    const inbox = new MemoryPaymentInbox(protections.paymentInbox);
    const cursors = new MemoryStreamCursors(db, protections.cursorCompares);
    const ids = { next: () => scheduler.newId('o') };
    const replica: Replica = {
      name: `p${this.started}`,
      frozenUntil: 0,
      steps: 0,
      holdSeats: new HoldSeats(matches, new MemorySeatInventory(db), holds, { has: () => false }),
      checkOut: new CheckOut(transactions, reservations, orders, payments, consequences, ids),
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

  /** What stands around every request that carries a key. */
  async answer<R>(key: KeyInHand, work: () => Promise<R>): Promise<unknown> {
    await this.scheduler.step(`looks up key ${key.key}`);
    const known = this.db.read(idempotencyKeys, key.key);
    if (known) return known.answer;
    try {
      const result = await this.transactions.under(key, work);
      return key.stored ?? key.render(result as never);
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      await this.scheduler.step(`reads the answer of key ${key.key}`);
      const first = this.db.read(idempotencyKeys, key.key);
      if (!first) throw new Error(`key ${key.key} was taken by nobody`, { cause: error });
      return first.answer;
    }
  }

  any(): Replica {
    return this.scheduler.random.pick(this.replicas);
  }
}

function sector(id: string, kind: 'seated' | 'standing', priceCents = 2500): SectorForSale {
  return { id, matchId: MATCH, name: id, kind, gate: null, priceCents, currency: 'EUR', capacity: 0 };
}

const unsold = { matchId: MATCH, status: 'available', reservationId: null, expiresAtMs: null } as const;

function rows(sectorId: string, lengths: readonly number[]): SeatRow[] {
  return lengths.flatMap((length, rowIndex) =>
    Array.from({ length }, (_, index) => {
      const row = 'ABC'[rowIndex] ?? 'Z';
      return { ...unsold, id: `${row}${index + 1}`, sectorId, row, number: index + 1, rowIndex, rank: rowIndex * 10 + index };
    }),
  );
}

function places(sectorId: string, length: number): SeatRow[] {
  return Array.from({ length }, (_, rank) => ({
    ...unsold,
    id: `S${rank}`,
    sectorId,
    row: null,
    number: null,
    rowIndex: 0,
    rank,
  }));
}
