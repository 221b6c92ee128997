import { TransactionManager, type Transaction } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import { driverClientOf } from '#platform/postgres/database';
import { inside, PostgresTransaction } from '#platform/postgres/transaction';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { BlacklistApi } from '../../apps/monolith/src/blacklist/blacklist.api.ts';
import type { Order } from '../../apps/monolith/src/purchase/application/sale-ports.ts';
import { ORDER_COLUMNS } from '../../apps/monolith/src/purchase/checkout/outbound/orders.sql.ts';
import { PostgresOrders } from '../../apps/monolith/src/purchase/checkout/outbound/postgres-orders.ts';
import { Reservations } from '../../apps/monolith/src/purchase/hold/application/reservation-ports.ts';
import {
  RefundConsequences,
  type Refund,
  type SoldTicket,
} from '../../apps/monolith/src/purchase/refunds/application/refund-ports.ts';
import { RefundTickets } from '../../apps/monolith/src/purchase/refunds/application/refund-tickets.ts';
import { PostgresRefunds } from '../../apps/monolith/src/purchase/refunds/outbound/postgres-refunds.ts';
import type { WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';

/** Transactions at READ COMMITTED, without retries. */
export class ReadCommittedTransactions extends TransactionManager {
  constructor(private readonly dataSource: DataSource) {
    super();
  }
  async run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    await runner.startTransaction('READ COMMITTED');
    try {
      const tx = new PostgresTransaction(await driverClientOf(runner), runner.manager, Promise.resolve());
      const result = await work(tx);
      const failure = await tx.reasonFor(undefined);
      if (failure) throw failure;
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    } finally {
      await runner.release();
    }
  }
  runStep<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.run(work);
  }
  together(): never {
    throw new Error('the negative controls use no shared transactions');
  }
  stepTogether(): never {
    throw new Error('the negative controls use no shared transactions');
  }
}

class UnlockedOrders extends PostgresOrders {
  override async lock(tx: Transaction, orderId: string): Promise<Order | undefined> {
    const rows = await inside(tx).rows<Order>(`select ${ORDER_COLUMNS} from orders o where o.id = $1 and true`, [orderId]);
    return rows[0];
  }
}

/** Frees seats without the check that they are sold. */
class RefundsWithoutSeatCheck extends PostgresRefunds {
  override async giveBack(tx: Transaction, { reservationId }: Order, { tickets }: Refund): Promise<void> {
    await inside(tx).rows(
      `update seats set status = 'available', reservation_id = null where id = any($1::uuid[]) and reservation_id = $2`,
      [tickets.map(({ seatId }) => seatId), reservationId],
    );
  }
}

/** Reads tickets without row locks and then waits 20 ms, so that a concurrent refund reads the same state. */
class UnlockedTickets extends RefundConsequences {
  constructor(
    private readonly real: RefundConsequences,
    private readonly keyOf: (key: string) => string,
  ) {
    super();
  }
  async tickets(tx: Transaction, orderId: string): Promise<readonly SoldTicket[]> {
    const tickets = await inside(tx).rows<SoldTicket>(
      `select id, user_id as "userId", seat_id as "seatId", status from tickets where order_id = $1 order by id`,
      [orderId],
    );
    await pause(20);
    return tickets;
  }
  refunded(tx: Transaction, order: Order, refund: Refund): Promise<void> {
    return this.real.refunded(tx, order, { ...refund, key: this.keyOf(refund.key) });
  }
}

/**
 * The negative control: the refund use case without its guards. Row locks and SERIALIZABLE are always off. `off.seats` also
 * switches off the check that the seats are sold. `off.key` sends each refund to the provider with a new idempotency key; the real
 * code sends a repeated refund with the same key.
 */
export function unguardedRefunds(
  monolith: WholeMonolith,
  off: { readonly seats?: true; readonly key?: true } = {},
): RefundTickets {
  const { dataSource } = monolith;
  const reservations = monolith.get(Reservations);
  const unlocked = Object.create(reservations, {
    lock: { value: (_tx: Transaction, reservationId: string) => reservations.find(reservationId) },
  }) as Reservations;
  return new RefundTickets(
    new ReadCommittedTransactions(dataSource),
    off.seats ? new RefundsWithoutSeatCheck(dataSource) : new PostgresRefunds(dataSource),
    unlocked,
    new UnlockedOrders(monolith.get(BlacklistApi)),
    new UnlockedTickets(monolith.get(RefundConsequences), (key) => (off.key ? `${key} ${newId()}` : key)),
  );
}
