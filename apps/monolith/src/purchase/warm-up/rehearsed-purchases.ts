import type { Ids } from '#application/ids';
import { TransactionManager, type SharedWork, type Transaction } from '#application/transaction-manager';
import { Batcher } from '#platform/batching/batcher';
import { driverClientOf, type DriverClient } from '#platform/postgres/database';
import { rollBack } from '#platform/postgres/roll-back';
import { inside, PostgresTransaction } from '#platform/postgres/transaction';
import { randomUUID } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import type { BlacklistApi } from '../../blacklist/blacklist.api.ts';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { MatchesForSale } from '../application/sale-ports.ts';
import { CheckOut } from '../checkout/application/check-out.ts';
import { PlaceOrders } from '../checkout/application/place-orders.ts';
import type { OrderConsequences, Payments } from '../checkout/application/ports.ts';
import { PostgresOrders } from '../checkout/outbound/postgres-orders.ts';
import type { Reservations } from '../hold/application/reservation-ports.ts';
import type { PaymentInbox } from '../settlement/application/ports.ts';
import { SettlePayment } from '../settlement/application/settle-payment.ts';
import { ADD_REHEARSAL_HOLDS } from './rehearsal-data.sql.ts';

/** A third of the pool is more than batches and relays use at peak load. The pool gives out the connection that was used last. */
const SHARE_OF_POOL = 1 / 3;
/** Purchases in a batch: as many as share a transaction at peak load. */
const BATCH_SIZE = 16;
/**
 * READ COMMITTED: at SERIALIZABLE the rehearsal could be the reason of a conflict between purchases of fans. Sequential scans are off as
 * in the transactions of fans, because the plans that are made here are theirs.
 */
const BEGIN = `begin isolation level read committed; set local enable_seqscan = off; set local lock_timeout = '2s';
  set local statement_timeout = '10s'`;

/** What the rehearsed use cases need, as those of fans. */
export interface RehearsalPorts {
  readonly reservations: Reservations;
  readonly catalog: CatalogApi;
  readonly matches: MatchesForSale;
  readonly inbox: PaymentInbox;
  readonly consequences: OrderConsequences;
  readonly blacklist: BlacklistApi;
  readonly ids: Ids;
}

/**
 * Makes purchases of made-up seats, from the checkout to the messages about the tickets, and rolls them back. The use cases, the
 * adapters and the statements are those of fans. Afterwards V8 has compiled their code, and each connection that was used has the
 * plans of their statements, which PostgreSQL makes anew for the first five executions.
 */
export class RehearsedPurchases {
  /** The same in all rehearsals: caches of matches get one more entry, not many. */
  private readonly place = { matchId: randomUUID(), sectorId: randomUUID() };

  constructor(
    private readonly dataSource: DataSource,
    private readonly ports: RehearsalPorts,
  ) {}

  /** Rehearses on each of several connections, which are taken from the pool together, so that all are different. */
  async run(batches: number): Promise<void> {
    const { poolSize = 1 } = this.dataSource.options;
    const connections = Math.max(1, Math.floor(poolSize * SHARE_OF_POOL));
    const runners = Array.from({ length: connections }, () => this.dataSource.createQueryRunner());
    try {
      const clients = await Promise.all(runners.map(driverClientOf));
      for (const [index, client] of clients.entries()) await this.rehearseOn(client, runners[index]!.manager, batches);
    } finally {
      await Promise.all(runners.map((runner) => runner.release()));
    }
  }

  private async rehearseOn(client: DriverClient, orm: EntityManager, batches: number): Promise<void> {
    const tx = new PostgresTransaction(client, orm, client.query(BEGIN));
    try {
      await this.addMatch(tx);
      for (let batch = 0; batch < batches; batch += 1) await this.buy(tx, batch * BATCH_SIZE * 2);
    } finally {
      tx.end();
      await rollBack(client);
    }
  }

  private async addMatch(tx: Transaction): Promise<void> {
    const { matchId, sectorId } = this.place;
    const [now, name] = [new Date(), 'Rehearsal'];
    const match = { id: matchId, home: name, away: name, venue: name, kickoffAt: now, opensAt: now, currency: 'EUR' };
    const rules = {
      maxTicketsPerFan: 4,
      queueRequired: false,
      processingRate: 1,
      maxOpenWindows: 1,
      saleStatus: 'open',
      transfers: 'allowed',
    } as const;
    const reasons = { pauseReason: null, cancelledAt: null, cancelReason: null };
    const sector = { id: sectorId, matchId, name, gate: null, wheelchair: false, priceCents: 100, capacity: 1000 };
    await this.ports.catalog.add(tx, { ...match, ...rules, ...reasons }, [{ ...sector, kind: 'seated' }]);
  }

  private async buy(tx: Transaction, firstRank: number): Promise<void> {
    const holds = Array.from({ length: BATCH_SIZE }, () => ({
      reservationId: randomUUID(),
      userId: randomUUID(),
      holders: [1, 2].map(() => ({ seatId: randomUUID(), name: 'Rehearsal' })),
    }));
    await inside(tx).rows(
      ADD_REHEARSAL_HOLDS.with({
        ...this.place,
        holdIds: holds.map(({ reservationId }) => reservationId),
        userIds: holds.map(({ userId }) => userId),
        seatIds: holds.flatMap(({ holders }) => holders.map(({ seatId }) => seatId)),
        firstRank,
      }),
    );
    const transactions = new OneTransaction(tx);
    const { reservations, matches, inbox, consequences, blacklist, ids } = this.ports;
    const orders = new UnnumberedOrders(blacklist);
    const placeOrders = new PlaceOrders(reservations, orders, ids, matches);
    const checkOut = new CheckOut(transactions, placeOrders, reservations, orders, noProvider, consequences);
    const settle = new SettlePayment(transactions, inbox, orders, reservations, matches, consequences);
    const placed = await Promise.all(holds.map((hold) => checkOut.execute({ ...hold, email: 'rehearsal@example.invalid' })));
    await Promise.all(
      placed.map(({ order }) =>
        settle.execute({
          ...{ eventId: randomUUID(), type: 'payment_intent.succeeded', outcome: 'succeeded', orderId: order.id },
          ...{ intentId: order.payment.intentId ?? '', amountCents: order.totalCents, currency: order.currency },
        }),
      ),
    );
  }
}

/** Orders whose numbers are not taken from the sequence: a rollback does not give numbers back. */
class UnnumberedOrders extends PostgresOrders {
  override nextNumbers(_tx: Transaction, count: number): Promise<readonly string[]> {
    return Promise.resolve(Array.from({ length: count }, () => randomUUID()));
  }
}

/** Stands for the payment provider, which must not hear of a rehearsal. */
const noProvider: Payments = {
  createIntent: ({ orderId }) =>
    Promise.resolve({ provider: 'rehearsal', intentId: `rehearsal_${orderId}`, clientSecret: '', confirmUrl: '' }),
};

/** Runs everything in one open transaction, which somebody else ends. Commands share batches as in PostgresTransactionManager. */
class OneTransaction extends TransactionManager {
  constructor(private readonly tx: Transaction) {
    super();
  }

  run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this.tx);
  }

  runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return work(this.tx);
  }

  together<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    const commands = new Batcher<C, T>(
      async (batch) => {
        const decided = await work.many(this.tx, batch);
        return batch.map((command, index) => decided[index] ?? work.one(this.tx, command));
      },
      { startWith: setImmediate },
    );
    return (command) => commands.add(command);
  }

  stepTogether<C, T>(work: SharedWork<C, T>): (command: C) => Promise<T> {
    return this.together(work);
  }
}
