import type { SharedWork, Transaction, TransactionManager } from '#application/transaction-manager';
import { driverClientOf } from '#platform/postgres/database';
import { PostgresTransaction } from '#platform/postgres/transaction';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { MatchesForSale } from '../application/sale-ports.ts';
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
  // The first insert of a ticket sleeps for 1.2 s, so the first payment begins before its hold expires and commits after the
  // expiry.
  await office.rows(`create sequence naps`);
  await office.rows(`create function nap() returns trigger language plpgsql as
    'begin if nextval(''naps'') = 1 then perform pg_sleep(1.2); end if; return new; end'`);
  await office.rows(`create trigger nap before insert on tickets for each row execute function nap()`);
});
afterAll(() => opened.close());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a hold that expires while its payment is settled still counts against the limit of a concurrent hold request', async () => {
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

describe('a hold request counts the fan’s seats while a payment is running, and the payment commits first', () => {
  /** Id of an advisory lock (any number). While the test holds it, payments wait at the insert of their first ticket. */
  const LOCK_ID = 4712;

  /** A writer connection that pauses before the query that counts the seats of fans, and again after this query. */
  class PausedAroundCount extends WriterConnection {
    readonly before = Promise.withResolvers<void>();
    readonly mayCount = Promise.withResolvers<void>();
    readonly counted = Promise.withResolvers<void>();
    readonly mayContinue = Promise.withResolvers<void>();

    override async read<R>(statement: Parameters<WriterConnection['read']>[0]): Promise<R[]> {
      if (statement.name !== 'count-fan-seats') return super.read<R>(statement);
      this.before.resolve();
      await this.mayCount.promise;
      const rows = await super.read<R>(statement);
      this.counted.resolve();
      await this.mayContinue.promise;
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
    connection: WriterConnection,
    match: MatchOnSale,
    userId: string,
  ): { outcome: Promise<HoldOutcome>; close(): Promise<void> } {
    const holds = openHoldQueue(office.monolith.dataSource, connection);
    const facts = { name: 'East A', kind: 'seated', gate: null, priceCents: 2500, currency: 'EUR', capacity: 20 } as const;
    const sector = { ...facts, wheelchair: false, id: match.sectors[0]?.id ?? '', matchId: match.id };
    const outcome = holds.hold({ matchId: match.id, userId, sessionToken: undefined, sector, quantity: 2 });
    outcome.catch(() => undefined);
    return { outcome, close: () => holds.onApplicationShutdown() };
  }

  beforeAll(async () => {
    await office.rows(`create function wait_for_lock() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(${LOCK_ID}); return new; end'`);
    await office.rows(`create trigger pause before insert on tickets for each row execute function wait_for_lock()`);
  });

  const waitsFor = (lock: string): string =>
    `exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = '${lock}')`;

  test.each<[string, (seatId: string) => [sql: string, parameter: unknown], string]>([
    ['in a batch', () => ['select pg_advisory_xact_lock($1)', LOCK_ID], waitsFor('advisory')],
    // A payment with a locked seat is not settled in a batch.
    ['alone', (seatId) => ['select 1 from seats where id = $1 for update', seatId], waitsFor('transactionid')],
  ])('a hold during a payment that is settled %s: the fan stays within the limit', async (_, lock, isWaiting) => {
    const match = await putOnSale(office.monolith, { max_tickets_per_fan: 2, sectors: [seated('East A', 2, 10)] });
    const held = await office.held(match, { quantity: 2 });
    const ordered = await office.ordered(held);
    const connection = new PausedAroundCount({
      ...{ url: opened.settings.DATABASE_URL, name: 'paused', settings: HOLD_SETTINGS, onRetry: () => undefined },
    });
    const more = holdMore(connection, match, held.userId);
    await connection.before.promise;
    const ends = `now() + interval '700 milliseconds'`;
    await office.rows(`update seats set expires_at = ${ends} where reservation_id = $1`, [held.id]);
    await office.rows(`update reservations set expires_at = ${ends} where id = $1`, [held.id]);
    const [sql, parameter] = lock(held.seatIds[0] ?? '');
    const locker = office.monolith.dataSource.createQueryRunner();
    await locker.startTransaction();
    await locker.query(sql, [parameter]);
    const settling = office.settle(office.report(ordered));
    await until(isWaiting);
    await until('exists (select from reservations where id = $1 and expires_at <= now())', [held.id]);

    connection.mayCount.resolve();
    await connection.counted.promise;
    await locker.rollbackTransaction();
    await locker.release();
    expect(await settling).toBe('completed');
    connection.mayContinue.resolve();
    const outcome = await more.outcome.catch((error: unknown) => error);
    await more.close();
    expect(outcome).toMatchObject({ code: 'TICKET_LIMIT_REACHED' });
    expect(await office.seatRows(match)).toEqual({ sold: 2, available: 18 });
  });
});

describe('a payment transaction that begins before the hold expires and reads after the fan has got other seats', () => {
  /** Runs `meanwhile` between BEGIN, which fixes `now()`, and the first statement of `work`, which takes the snapshot. */
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
    const resolve = <T>(token: abstract new (...dependencies: never[]) => T) => office.monolith.get(token as never) as T;
    const transactions = { together } as TransactionManager;
    const [inbox, orders, reservations] = [resolve(PaymentInbox), resolve(Orders), resolve(Reservations)];
    return new SettlePayment(transactions, inbox, orders, reservations, resolve(MatchesForSale), resolve(OrderConsequences));
  }

  const inBatch = <C, T>(tx: Transaction, work: SharedWork<C, T>, command: C): Promise<unknown> =>
    work.many(tx, [command]).then(([settled]) => settled ?? { result: 'not settled in the batch' });
  const alone = <C, T>(tx: Transaction, work: SharedWork<C, T>, command: C): Promise<unknown> => work.one(tx, command);

  test.each([
    ['in a batch', inBatch, 'not settled in the batch'],
    ['alone', alone, 'refunded'],
  ])('a late payment that is settled %s: the fan stays within the limit', async (_, settle, outcome) => {
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
    expect((await settling.execute(office.report(ordered))).result).toBe(outcome);
    expect((await office.seatRows(match)).sold).toBeUndefined();
  });
});
