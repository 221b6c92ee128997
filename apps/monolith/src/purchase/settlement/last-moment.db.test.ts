import type { SharedWork, Transaction, TransactionManager } from '#application/transaction-manager';
import { driverClientOf } from '#platform/postgres/database';
import { PostgresTransaction } from '#platform/postgres/transaction';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { MatchesForSale } from '../application/ports.ts';
import { OrderConsequences, Orders } from '../checkout/application/ports.ts';
import type { HoldOutcome } from '../hold/application/ports.ts';
import { Reservations } from '../hold/application/reservation-ports.ts';
import { HOLD_SETTINGS } from '../hold/outbound/hold-batch.sql.ts';
import { WriterConnection } from '../hold/outbound/writer-connection.ts';
import { openHoldQueue } from '../testing/hold-queues.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../testing/box-office.ts';
import { PaymentInbox } from './application/ports.ts';
import { SettlePayment } from './application/settle-payment.ts';

let opened: OpenBoxOffice;
let office: BoxOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  // The first ticket takes its time: a payment that began while the hold was alive ends when it is over.
  await office.rows(`create sequence naps`);
  await office.rows(`create function nap() returns trigger language plpgsql as
    'begin if nextval(''naps'') = 1 then perform pg_sleep(1.2); end if; return new; end'`);
  await office.rows(`create trigger nap before insert on tickets for each row execute function nap()`);
});
afterAll(() => opened.close());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a hold that ends while it is being paid still counts when its fan wants more that moment', async () => {
  const match = await putOnSale(office.monolith, { max_tickets_per_fan: 2, sectors: [seated('East A', 2, 10)] });
  const held = await office.held(match, { quantity: 2 });
  const ordered = await office.ordered(held);
  const ends = `now() + interval '500 milliseconds'`;
  await office.rows(`update seats set expires_at = ${ends} where reservation_id = $1`, [held.id]);
  await office.rows(`update reservations set expires_at = ${ends} where id = $1`, [held.id]);
  const settling = office.settle(office.report(ordered));
  await pause(700);
  const more = await office.hold(match, { as: held.userId, quantity: 2 });
  expect([await settling, more.status, more.json.code]).toEqual(['completed', 409, 'TICKET_LIMIT_REACHED']);
  expect(await office.seatRows(match)).toEqual({ sold: 2, available: 18 });
});

describe('a fan is counted while a payment is under way, and the payment commits before the hold', () => {
  /** Any number: the payments of this test stop at their first ticket while the test has this advisory lock. */
  const GATE = 4712;

  /** Stops before it counts the seats of the fans, and again after it. */
  class StopsWhereItCounts extends WriterConnection {
    readonly before = Promise.withResolvers<void>();
    readonly mayCount = Promise.withResolvers<void>();
    readonly counted = Promise.withResolvers<void>();
    readonly mayGoOn = Promise.withResolvers<void>();

    override async read<R>(statement: Parameters<WriterConnection['read']>[0]): Promise<R[]> {
      if (statement.name !== 'count-fan-seats') return super.read<R>(statement);
      this.before.resolve();
      await this.mayCount.promise;
      const rows = await super.read<R>(statement);
      this.counted.resolve();
      await this.mayGoOn.promise;
      return rows;
    }
  }

  async function until(condition: string, parameters: readonly unknown[] = []): Promise<void> {
    const giveUpAt = Date.now() + 10_000;
    while ((await office.rows(`select 1 where ${condition}`, parameters)).length === 0) {
      if (Date.now() > giveUpAt) throw new Error(`never: ${condition}`);
      await pause(10);
    }
  }

  function holdMore(
    lane: WriterConnection,
    match: MatchOnSale,
    userId: string,
  ): { outcome: Promise<HoldOutcome>; close(): Promise<void> } {
    const holds = openHoldQueue(office.monolith.dataSource, lane);
    const facts = { name: 'East A', kind: 'seated', gate: null, priceCents: 2500, currency: 'EUR', capacity: 20 } as const;
    const sector = { ...facts, id: match.sectors[0]?.id ?? '', matchId: match.id };
    const outcome = holds.hold({ matchId: match.id, userId, sessionToken: undefined, sector, quantity: 2 });
    outcome.catch(() => undefined);
    return { outcome, close: () => holds.onApplicationShutdown() };
  }

  beforeAll(async () => {
    await office.rows(`create function wait_at_gate() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end'`);
    await office.rows(`create trigger gate before insert on tickets for each row execute function wait_at_gate()`);
  });

  const waitsFor = (lock: string): string =>
    `exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = '${lock}')`;

  test.each<[string, (seatId: string) => [sql: string, parameter: unknown], string]>([
    ['shared', () => ['select pg_advisory_xact_lock($1)', GATE], waitsFor('advisory')],
    // A locked seat takes the payment out of its batch.
    ['by itself', (seatId) => ['select 1 from seats where id = $1 for update', seatId], waitsFor('transactionid')],
  ])('settled %s: the fan stays within the limit', async (_, stop, isStopped) => {
    const match = await putOnSale(office.monolith, { max_tickets_per_fan: 2, sectors: [seated('East A', 2, 10)] });
    const held = await office.held(match, { quantity: 2 });
    const ordered = await office.ordered(held);
    const lane = new StopsWhereItCounts({
      ...{ url: opened.settings.DATABASE_URL, name: 'stops', settings: HOLD_SETTINGS, onRetry: () => undefined },
    });
    const more = holdMore(lane, match, held.userId);
    await lane.before.promise;
    const ends = `now() + interval '700 milliseconds'`;
    await office.rows(`update seats set expires_at = ${ends} where reservation_id = $1`, [held.id]);
    await office.rows(`update reservations set expires_at = ${ends} where id = $1`, [held.id]);
    const [sql, parameter] = stop(held.seatIds[0] ?? '');
    const stopper = office.monolith.dataSource.createQueryRunner();
    await stopper.startTransaction();
    await stopper.query(sql, [parameter]);
    const settling = office.settle(office.report(ordered));
    await until(isStopped);
    await until('exists (select from reservations where id = $1 and expires_at <= now())', [held.id]);

    lane.mayCount.resolve();
    await lane.counted.promise;
    await stopper.rollbackTransaction();
    await stopper.release();
    expect(await settling).toBe('completed');
    lane.mayGoOn.resolve();
    const outcome = await more.outcome.catch((error: unknown) => error);
    await more.close();
    expect(outcome).toMatchObject({ code: 'TICKET_LIMIT_REACHED' });
    expect(await office.seatRows(match)).toEqual({ sold: 2, available: 18 });
  });
});

describe('a payment whose transaction begins while the hold is alive, and reads after the fan was given other seats', () => {
  /** BEGIN sets `now()`; the snapshot is taken by the first statement, after `meanwhile`. */
  async function inTransaction<T>(meanwhile: () => Promise<unknown>, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const runner = office.monolith.dataSource.createQueryRunner();
    const client = await driverClientOf(runner);
    await client.query('begin isolation level serializable');
    await meanwhile();
    const tx = new PostgresTransaction(client, runner.manager, Promise.resolve());
    const result = await work(tx);
    tx.end();
    await client.query('COMMIT');
    await runner.release();
    return result;
  }

  function settlePayment(together: TransactionManager['together']): SettlePayment {
    const part = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
    const transactions = { together } as TransactionManager;
    const [inbox, orders, reservations] = [part(PaymentInbox), part(Orders), part(Reservations)];
    return new SettlePayment(transactions, inbox, orders, reservations, part(MatchesForSale), part(OrderConsequences));
  }

  const shared = <C, T>(tx: Transaction, work: SharedWork<C, T>, command: C): Promise<unknown> =>
    work.many(tx, [command]).then(([settled]) => settled ?? 'left to be settled by itself');
  const alone = <C, T>(tx: Transaction, work: SharedWork<C, T>, command: C): Promise<unknown> => work.one(tx, command);

  test.each([
    ['shared', shared, 'left to be settled by itself'],
    ['by itself', alone, 'refunded'],
  ])('settled %s: the fan stays within the limit', async (_, settle, outcome) => {
    const match = await putOnSale(office.monolith, { max_tickets_per_fan: 2, sectors: [seated('East A', 2, 10)] });
    const held = await office.held(match, { quantity: 2 });
    const ordered = await office.ordered(held);
    const ends = `now() + interval '300 milliseconds'`;
    await office.rows(`update seats set expires_at = ${ends} where reservation_id = $1`, [held.id]);
    await office.rows(`update reservations set expires_at = ${ends} where id = $1`, [held.id]);
    const holdMore = async (): Promise<void> => {
      await pause(400);
      await office.held(match, { as: held.userId, quantity: 2, seatIds: (await office.seatIds(match)).slice(-2) });
    };
    const together = (work: SharedWork<unknown, unknown>) => (command: unknown) =>
      inTransaction(holdMore, (tx) => settle(tx, work, command));
    const settling = settlePayment(together as TransactionManager['together']);
    expect(await settling.execute(office.report(ordered))).toBe(outcome);
    expect((await office.seatRows(match)).sold).toBeUndefined();
  });
});
