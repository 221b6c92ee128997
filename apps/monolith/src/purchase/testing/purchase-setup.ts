import type { Transaction } from '#application/transaction-manager';
import type { SaleStatus } from '#domain/catalog/sale';
import type { Reservation, SectorForSale } from '../application/ports.ts';
import type { MatchesForSale } from '../application/sale-ports.ts';
import type { OrderConsequences, Orders } from '../checkout/application/ports.ts';
import type { HoldOutcome, HoldRequest, SeatHolds, SectorReader } from '../hold/application/ports.ts';
import type { Reservations } from '../hold/application/reservation-ports.ts';
import type { QuotaPlacesApi } from '../quota-places.api.ts';
import type { PaymentInbox } from '../settlement/application/ports.ts';
import type { StreamCursors, WaitingRoomConsequences, WaitingRoomEvents } from '../turns/application/waiting-room-ports.ts';

/** A sector that a contract test has added, with the ids of its seats in the order of rows and numbers. */
export interface TestSector extends SectorForSale {
  readonly seatIds: readonly string[];
}

/** A fan's turn for a match. */
export interface Turn {
  readonly matchId: string;
  readonly userId: string;
  readonly sessionToken: string;
}

/** A hold of some seats of a sector. It expires in ten minutes. */
export interface NewHold {
  readonly sector: TestSector;
  /** Indices in `sector.seatIds`. */
  readonly seats: readonly number[];
  readonly userId?: string;
  readonly sessionToken?: string | null;
}

/**
 * The ports of `purchase` with one set of adapters: fakes on the simulated database, or the real ones on PostgreSQL and Redis. The
 * contract suites run on both. The other methods create what a test starts from and read what is stored.
 */
export interface PurchaseSetup {
  readonly matches: MatchesForSale;
  readonly sectors: SectorReader;
  readonly seatHolds: SeatHolds;
  readonly reservations: Reservations;
  readonly orders: Orders;
  readonly inbox: PaymentInbox;
  readonly consequences: OrderConsequences;
  readonly waitingRoom: WaitingRoomEvents;
  readonly cursors: StreamCursors;
  readonly waitingRoomConsequences: WaitingRoomConsequences;
  readonly places: QuotaPlacesApi;

  /** Runs the body of one test, on empty tables. */
  play(body: () => Promise<void>): Promise<void>;
  /** Runs `work` in a transaction of its own and commits it, also while another one is open. */
  inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** A hold request under an idempotency key. */
  holdWithKey(key: string, request: HoldRequest): Promise<HoldOutcome>;

  /** By default on sale without turns, with a limit of four tickets. Returns the id. */
  addMatch(facts?: {
    saleStatus?: SaleStatus;
    queueRequired?: boolean;
    maxTicketsPerFan?: number;
    isCancelled?: boolean;
  }): Promise<string>;
  /** A seated sector with rows of these lengths. Its seats are stored in an order that no reader may rely on. */
  addSector(matchId: string, name: string, rowLengths: readonly number[]): Promise<TestSector>;
  /** A quota without places. Returns the id. */
  addQuota(matchId: string): Promise<string>;
  /** A living hold that counts against its fan's limit. Returns it as it is stored. */
  addHold(hold: NewHold): Promise<Reservation>;
  /** Sets the expiry of a hold to one second ago. Nothing has ended it yet. */
  expire(reservationId: string): Promise<void>;
  /** Moves a hold into the past: it began and expired so many seconds ago. Nothing has ended it yet. */
  lapse(reservationId: string, secondsAgo: { readonly began: number; readonly expired: number }): Promise<void>;
  blacklist(userId: string): Promise<void>;
  addDevice(userId: string): Promise<void>;
  /** Stores a turn that lasts ten minutes, or `seconds`. With `endReason` it has ended. */
  storeTurn(turn: Turn, more?: { seconds?: number; endReason?: string }): Promise<void>;
  /** The waiting room grants a turn: its event is in the stream of the match, and no process has stored the turn. */
  grantTurn(turn: Turn): Promise<void>;
  /** The waiting room ends a turn: the event is in the stream of the match. */
  endTurn(turn: Turn, reason: string): Promise<void>;

  seat(seatId: string): Promise<{ readonly status: string; readonly reservationId: string | null }>;
  /** The quota that a seat belongs to, and what it is bound to. */
  place(seatId: string): Promise<{ readonly quotaId: string | null; readonly boundTo: string | null }>;
  /** What counts against the limit of a fan: the revision of the count, and the reservations that it lists. */
  fan(fan: { matchId: string; userId: string }): Promise<{ revision: number; reservationIds: readonly string[] } | undefined>;
  timeline(orderId: string): Promise<readonly string[]>;
  /** The valid tickets of an order, sorted by seat. */
  tickets(orderId: string): Promise<readonly { readonly seatId: string; readonly userId: string }[]>;
  /** A stored turn; `endReason` is null as long as nothing has ended it. */
  turn(sessionToken: string): Promise<{ readonly endReason: string | null } | undefined>;
  /** Events of the outbox about this reservation or order, without mails and pushes, oldest first. `command`: to the provider. */
  messages(aggregateId: string): Promise<readonly { readonly event: string; readonly command?: object }[]>;
  /** Number of pushes that tell the fan of a turn. */
  turnPushes(turn: Turn): Promise<number>;
}

/** A test of a contract: a name and a body that gets the ports. */
export type ContractTest = (name: string, body: (purchase: PurchaseSetup) => Promise<void>) => void;

/** Registers tests that run on what `open` gives. */
export function contractTests(open: () => PurchaseSetup): ContractTest {
  return (name, body) =>
    test(name, async () => {
      const purchase = open();
      await purchase.play(() => body(purchase));
    });
}
