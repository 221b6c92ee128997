import { TransactionManager } from '#application/transaction-manager';
import { developmentSecrets } from '#platform/config/settings';
import { inside } from '#platform/postgres/transaction';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { setTimeout as pause } from 'node:timers/promises';
import { PurchaseApi } from '../purchase/purchase.api.ts';
import { BoxOffice, type HeldSeats, type Ordered } from '../purchase/testing/box-office.ts';
import { RelayApi } from '../relay/relay.api.ts';
import { newKey } from '../testing/test-app.ts';
import {
  grantTurn,
  openMonolith,
  ops,
  putOnSale,
  seated,
  type MatchOnSale,
  type WholeMonolith,
} from '../testing/whole-monolith.ts';
import { QueueKeeper } from '../waiting-room/queue-keeper.schedule.ts';
import { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';
import { FakeQueueService } from '../waiting-room/testing/fake-queue-service.ts';
import { CheckSale } from './check-sale.ts';
import { SaleWatch } from './sale-watch.schedule.ts';

let database: TestDatabase;
let redis: TestRedis;
let queue: FakeQueueService;
let settings: { DATABASE_URL: string; REDIS_URL: string; QUEUE_INTERNAL_URL: string };
let monolith: WholeMonolith;
let other: WholeMonolith;
let office: BoxOffice;

beforeAll(async () => {
  queue = new FakeQueueService(developmentSecrets.INTERNAL_AUTH_SECRET);
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, QUEUE_INTERNAL_URL: await queue.open() };
  [monolith, other] = await Promise.all([openMonolith(settings), openMonolith(settings)]);
  office = new BoxOffice(monolith);
});
afterAll(async () => {
  await Promise.all([monolith.close(), other.close()]);
  await Promise.all([queue.close(), database.close(), redis.close()]);
});
beforeEach(async () => {
  queue.behaviour = 'normal';
  // Close the sales of earlier tests, so that each test watches only its own.
  await monolith.dataSource.query(`update matches set sale_status = 'closed'`);
});

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const onSale = (facts = {}, on = monolith) =>
  putOnSale(on, { queue_required: true, sectors: [seated('East A', 1, 2)], ...facts });
const stateOf = async ({ id }: MatchOnSale) => (await monolith.call('GET', `/api/v1/matches/${id}`)).json.sale.status;
const changeSale = (match: MatchOnSale, action: string) =>
  monolith.call('POST', `/api/v1/ops/matches/${match.id}/sale`, { ...ops, body: { action }, key: newKey() });
/** The reports of remaining sectors that the waiting room received. An empty report means sold out. */
const reportsOf = (match: MatchOnSale) => queue.remaining.get(match.id) ?? [];
const soldOutReports = (match: MatchOnSale) => reportsOf(match).filter((sectors) => sectors.length === 0).length;
/** The numbers of useful windows that the waiting room received, in order. */
const usefulWindowsOf = (match: MatchOnSale) =>
  queue.controls.get(match.id)?.flatMap(({ useful_windows: useful }) => (typeof useful === 'number' ? [useful] : [])) ?? [];

/** Waits a second, runs one check of the sale watch in each replica, and delivers the messages that it wrote. */
async function nextSecond(replicas = [monolith, other]): Promise<void> {
  await pause(1020);
  await Promise.all(replicas.map((replica) => replica.get(SaleWatch).runOnce()));
  await relay(replicas);
}
async function relay(replicas = [monolith, other]): Promise<void> {
  await Promise.all(
    replicas.map(async (replica) => {
      const waitingRoomRelay = replica.get(RelayApi).relays.find(({ destination }) => destination.name === 'waiting-room');
      await waitingRoomRelay?.runOnce();
    }),
  );
}
/** One fan holds both seats of the match. */
async function holdAll(match: MatchOnSale): Promise<HeldSeats> {
  const as = '0190a000-0000-7000-8000-0000000000b1';
  const queued = await monolith.dataSource.query<{ queue_required: boolean }[]>(
    `select queue_required from matches where id = $1`,
    [match.id],
  );
  const turn = queued[0]?.queue_required ? await grantTurn(monolith, match.id, as) : undefined;
  return office.held(match, { as, quantity: 2, ...(turn ? { turn } : {}) });
}
/** One fan buys both seats of the match. */
async function sellAll(match: MatchOnSale): Promise<Ordered> {
  const ordered = await office.ordered(await holdAll(match));
  await office.settle(office.report(ordered));
  return ordered;
}
/** Refunds one ticket of the match, at the other replica. */
async function refundOne(match: MatchOnSale): Promise<void> {
  const [ticket] = await office.rows<{ id: string; order_id: string }>(
    `select id, order_id from tickets where match_id = $1 and status = 'valid' limit 1`,
    [match.id],
  );
  const refund = { ...ops, body: { ticket_ids: [ticket?.id] } };
  const { status, text } = await other.call('POST', `/api/v1/ops/orders/${ticket?.order_id}/refund`, refund);
  if (status !== 200) throw new Error(`not refunded: ${text}`);
}

describe('a match without free seats', () => {
  test('is marked sold_out by the sale watch, and the waiting room is told once although two replicas watch', async () => {
    const match = await onSale();
    await nextSecond();
    await sellAll(match);
    expect(await stateOf(match)).toBe('open');
    await nextSecond();
    await nextSecond();
    await nextSecond();
    expect([await stateOf(match), soldOutReports(match)]).toEqual(['sold_out', 1]);
    const turn = await grantTurn(monolith, match.id, '0190a000-0000-7000-8000-0000000000b2');
    const refused = await office.hold(match, { as: '0190a000-0000-7000-8000-0000000000b2', turn });
    expect([refused.status, refused.json.code]).toEqual([409, 'SOLD_OUT']);
  });

  test('is not watched two days after its kick-off, because many sales of past matches are never closed', async () => {
    const [past, coming] = [await onSale(), await onSale()];
    await monolith.dataSource.query(`update matches set kickoff_at = now() - interval '2 days' where id = $1`, [past.id]);
    await Promise.all([sellAll(past), sellAll(coming)]);
    await nextSecond();
    expect([await stateOf(past), await stateOf(coming)]).toEqual(['open', 'sold_out']);
  });

  test('is not marked sold_out while a fan holds the seats or pays for them', async () => {
    const match = await onSale();
    const held = await holdAll(match);
    await nextSecond();
    expect(await stateOf(match)).toBe('open');
    await office.ordered(held);
    await nextSecond();
    expect([await stateOf(match), soldOutReports(match)]).toEqual(['open', 0]);
  });

  test('is marked sold_out and reopened also without a waiting room, and no queue is told', async () => {
    const match = await onSale({ queue_required: false });
    await sellAll(match);
    await nextSecond();
    expect([await stateOf(match), queue.controls.get(match.id), reportsOf(match)]).toEqual(['sold_out', undefined, []]);
    await refundOne(match);
    await pause(2100);
    await nextSecond();
    expect([await stateOf(match), (await office.hold(match)).status]).toEqual(['open', 201]);
  });

  test('stays paused if operators paused its sale, and is marked sold_out after they resume it', async () => {
    const match = await onSale();
    const held = await office.ordered(await holdAll(match));
    await changeSale(match, 'pause');
    await office.settle(office.report(held));
    await nextSecond();
    expect([await stateOf(match), soldOutReports(match), usefulWindowsOf(match).at(-1)]).toEqual(['paused', 0, 0]);
    await changeSale(match, 'resume');
    await nextSecond();
    expect([await stateOf(match), soldOutReports(match)]).toEqual(['sold_out', 1]);
  });

  test('stays open if a seat came back after the count, because the seats are read again in the transaction', async () => {
    const match = await onSale();
    await sellAll(match);
    await refundOne(match);
    expect(await monolith.get(CheckSale).endOrReopen(match.id)).toBe('open');
  });

  test('is detected with a single SIREAD lock (predicate lock) for a whole stadium, because PostgreSQL has few of them', async () => {
    const match = await onSale({ sectors: [seated('East A', 40, 50)] });
    await office.rows(`update seats set status = 'blocked' where match_id = $1`, [match.id]);
    const locks = await monolith.get(TransactionManager).run(async (tx) => {
      const hasSeatsLeft = await monolith.get(PurchaseApi).hasSeatsLeft(tx, match.id);
      // Only the locks of this transaction: PostgreSQL keeps the SIREAD locks of other transactions for a while, and all test
      // databases have the same table ids.
      const kinds = await inside(tx).rows<{ kind: string; count: number }>(
        `select locktype as kind, count(*)::int as count from pg_locks where mode = 'SIReadLock' and relation = 'seats'::regclass
         and virtualtransaction = (select virtualtransaction from pg_locks where locktype = 'virtualxid' and pid = pg_backend_pid())
         group by 1`,
      );
      return { hasSeatsLeft, kinds };
    });
    expect(locks).toEqual({ hasSeatsLeft: false, kinds: [{ kind: 'relation', count: 1 }] });
  });

  test('is marked sold_out once, with one message, when eight calls try to mark it at once', async () => {
    const match = await onSale();
    await sellAll(match);
    const settled = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? monolith : other).get(CheckSale).endOrReopen(match.id)),
    );
    expect(new Set(settled)).toEqual(new Set(['sold_out']));
    const rows = await office.outbox(match.id);
    expect(rows.filter(({ event }) => event === 'match.sold_out')).toHaveLength(1);
  });
});

describe('the message that a sale is sold out', () => {
  test('is delivered by another replica if the process that ended the sale dies', async () => {
    const dying = await openMonolith(settings);
    const match = await onSale();
    await relay();
    await sellAll(match);
    queue.behaviour = 'down';
    expect(await dying.get(CheckSale).endOrReopen(match.id)).toBe('sold_out');
    await dying.close();
    await relay();
    expect(soldOutReports(match)).toBe(0);
    queue.behaviour = 'normal';
    await office.rows(`update outbox set available_at = now()`);
    await relay();
    await relay();
    expect(soldOutReports(match)).toBe(1);
  });

  test('is sent by the queue keeper after an outage of the waiting room, before the outbox retries it', async () => {
    const match = await onSale();
    await relay();
    await sellAll(match);
    queue.behaviour = 'down';
    await monolith.get(CheckSale).endOrReopen(match.id);
    await relay();
    queue.behaviour = 'normal';
    await monolith.get(QueueKeeper).runOnce();
    expect(soldOutReports(match)).toBe(1);
    expect(await monolith.get(QueueKeeper).runOnce()).toBe(0);
  });

  test('never has the status closed, which would end the turns of fans who still pay', async () => {
    const match = await onSale();
    await nextSecond();
    await sellAll(match);
    await nextSecond();
    await monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { home: 'Hajduk' } });
    queue.forgetQueues();
    await monolith.get(QueueKeeper).runOnce();
    const statuses = queue.controls.get(match.id)?.map(({ status }) => status);
    expect([statuses, queue.lastControl(match.id), soldOutReports(match)]).toEqual([
      [undefined],
      { processing_rate: 600, max_open_windows: 1000, opens_at: null, useful_windows: 0, reason: null },
      1,
    ]);
  });
});

describe('seats that come back', () => {
  test('reopen the sale with one useful window per seat, and it can be sold out again', async () => {
    const match = await onSale();
    await sellAll(match);
    await nextSecond();
    await refundOne(match);
    await pause(2100);
    await nextSecond();
    expect(await stateOf(match)).toBe('open');
    expect(queue.lastControl(match.id)?.status).toBe('active');
    expect([usefulWindowsOf(match).at(-1), reportsOf(match).at(-1)]).toEqual([
      1,
      [{ sector_id: match.sectors[0]?.id, name: 'East A', available: 1 }],
    ]);
    const as = '0190a000-0000-7000-8000-0000000000b3';
    const last = await office.ordered(await office.held(match, { as, turn: await grantTurn(monolith, match.id, as) }));
    await office.settle(office.report(last));
    await nextSecond();
    expect([await stateOf(match), soldOutReports(match)]).toEqual(['sold_out', 2]);
  });

  test('do not reopen a sale that operators closed', async () => {
    const match = await onSale();
    await sellAll(match);
    await nextSecond();
    await changeSale(match, 'close');
    await refundOne(match);
    await nextSecond();
    expect(await stateOf(match)).toBe('closed');
    expect((await changeSale(match, 'open')).json.sale.status).toBe('open');
  });
});

describe('the reports to the waiting room during a sale:', () => {
  test('useful windows (turns that may still find a seat) are the free seats plus the windows that hold seats; sent before the sale opens and on each change', async () => {
    const match = await onSale({ sectors: [seated('East A', 2, 5), seated('West B', 1, 5)], opens_at: inHours(1) });
    await nextSecond();
    // Sent twice: by the sale watch, and with the message about the new match.
    expect([usefulWindowsOf(match), queue.lastControl(match.id)?.status]).toEqual([[15, 15], 'scheduled']);
    await changeSale(match, 'open');
    expect(queue.lastControl(match.id)).toMatchObject({ status: 'active', useful_windows: 15 });
    const [ana, ben] = ['0190a000-0000-7000-8000-0000000000c1', '0190a000-0000-7000-8000-0000000000c2'];
    const turn = await grantTurn(monolith, match.id, ana);
    await office.held(match, { as: ana, turn, quantity: 3 });
    await office.held(match, { as: ana, turn, sector: 1, quantity: 1 });
    await grantTurn(monolith, match.id, ben);
    await nextSecond();
    // 11 free seats plus one window that holds seats. The other window holds nothing: it may take one of the 11, so it adds none.
    expect(usefulWindowsOf(match)).toEqual([15, 15, 15, 12]);
    await nextSecond();
    expect(usefulWindowsOf(match)).toEqual([15, 15, 15, 12]);
    await office.rows(`update purchase_windows set ended_at = now() where session_token = $1`, [turn]);
    await nextSecond();
    expect(usefulWindowsOf(match)).toEqual([15, 15, 15, 12, 11]);
  });

  test('a window that was idle for at least 3 minutes, in one piece or in several, is added to the useful windows', async () => {
    const match = await onSale({ sectors: [seated('East A', 1, 6)] });
    const fan = (index: number) => `0190a000-0000-7000-8000-0000000000d${index}`;
    const turns = await Promise.all([0, 1, 2, 3, 4].map((index) => grantTurn(monolith, match.id, fan(index))));
    const [idle, fresh, holding, onAndOff, busy] = turns as [string, string, string, string, string];
    const minutesOld = (token: string, minutes: number) =>
      office.rows(`update purchase_windows set created_at = now() - make_interval(mins => $2) where session_token = $1`, [
        token,
        minutes,
      ]);
    await minutesOld(idle, 4);
    await minutesOld(fresh, 2);
    await office.held(match, { as: fan(2), turn: holding, quantity: 1 });
    await minutesOld(holding, 10);
    const addEndedHolds = async (index: number, token: string, spans: readonly (readonly [from: number, to: number])[]) => {
      for (const [from, to] of spans) {
        const { id } = await office.held(match, { as: fan(index), turn: token, quantity: 1 });
        await monolith.call('DELETE', `/api/v1/reservations/${id}`, { as: fan(index) });
        await office.rows(
          `update reservations set created_at = now() - make_interval(mins => $2), ended_at = now() - make_interval(mins => $3),
                  expires_at = now() + interval '1 hour' where id = $1`,
          [id, from, to],
        );
      }
    };
    // The window is 8 minutes old. Its holds overlap (7 to 5 and 6 to 4 minutes ago) and cover 3 minutes, so it was idle for 5
    // minutes.
    await addEndedHolds(3, onAndOff, [
      [7, 5],
      [6, 4],
    ]);
    await minutesOld(onAndOff, 8);
    // The window is 8 minutes old and held seats for 6 minutes, so it was idle for 2 minutes.
    await addEndedHolds(4, busy, [[8, 2]]);
    await minutesOld(busy, 8);
    const { free, usefulWindows } = await monolith.get(PurchaseApi).seatsLeftNow(match.id);
    // 5 free seats, plus one window that holds seats, plus two idle windows. The fresh and the busy window add none: they hold
    // nothing and may take free seats.
    expect([free, usefulWindows]).toEqual([5, 5 + 1 + 2]);
    await nextSecond();
    expect(queue.lastControl(match.id)?.useful_windows).toBe(8);
  });

  test('seats are counted after the wait for the queue lock, so that an older count never replaces a newer one', async () => {
    const match = await onSale();
    await nextSecond();
    const left = await monolith.get(PurchaseApi).seatsLeftNow(match.id);
    expect(left.usefulWindows).toBe(2);
    let reporting: Promise<unknown> = Promise.resolve();
    await other.get(WaitingRoomApi).withQueueLock(match.id, async () => {
      reporting = monolith.get(CheckSale).report(match.id, left, {});
      await office.block(await office.seatIds(match));
      await pause(100);
    });
    await reporting;
    expect(queue.lastControl(match.id)?.useful_windows).toBe(0);
    expect(reportsOf(match).at(-1)).toHaveLength(1);
  });

  test('remaining sectors are the sectors with seats, sent only when they change', async () => {
    const match = await onSale({ sectors: [seated('East A', 1, 2), seated('West B', 1, 3)] });
    const [east, west] = match.sectors;
    await nextSecond();
    await nextSecond();
    expect(reportsOf(match)).toHaveLength(1);
    expect(reportsOf(match)[0]).toEqual(
      expect.arrayContaining([
        { sector_id: east?.id, name: 'East A', available: 2 },
        { sector_id: west?.id, name: 'West B', available: 3 },
      ]),
    );
    await sellAll(match);
    await nextSecond();
    expect(reportsOf(match).slice(1)).toEqual([[{ sector_id: west?.id, name: 'West B', available: 3 }]]);
  });

  test('reports are sent by the leading replica; after it stops, by another one', async () => {
    const match = await onSale({ sectors: [seated('East A', 2, 5)] });
    const leader = await openMonolith(settings);
    const follower = await openMonolith(settings);
    await Promise.all([monolith, other].map((replica) => replica.get(SaleWatch).beforeApplicationShutdown()));
    const runBoth = async () => [await leader.get(SaleWatch).runOnce(), await follower.get(SaleWatch).runOnce()];
    expect(await runBoth()).toEqual([true, false]);
    expect([await leader.metric('sale_watch_leading'), await follower.metric('sale_watch_leading')]).toEqual([1, 0]);
    expect(usefulWindowsOf(match)).toEqual([10]);
    await leader.close();
    expect(await follower.get(SaleWatch).runOnce()).toBe(true);
    await office.block((await office.seatIds(match)).slice(0, 4));
    await pause(1020);
    await follower.get(SaleWatch).runOnce();
    expect(usefulWindowsOf(match)).toEqual([10, 10, 6]);
    await follower.close();
  });

  test('while the waiting room is down, sold-out sales without a queue still end; sales with a queue are reported to it later', async () => {
    const queued = await onSale();
    const plain = await onSale({ queue_required: false });
    await sellAll(plain);
    const before = usefulWindowsOf(queued).length;
    queue.behaviour = 'down';
    await nextSecond();
    expect([await stateOf(plain), await stateOf(queued), usefulWindowsOf(queued).length]).toEqual(['sold_out', 'open', before]);
    queue.behaviour = 'normal';
    await pause(2100);
    await nextSecond();
    // Sent twice: by the sale watch, and with the delayed message about the new match.
    expect(usefulWindowsOf(queued).slice(before)).toEqual([2, 2]);
  });
});

test('a stale count of zero seats does not end the sale, because the seats are read from the database first', async () => {
  const match = await onSale();
  await sellAll(match);
  // This process has just counted zero seats. Then a seat comes back, and the count of this process is stale.
  const left = await office.monolith.call('GET', `/api/v1/matches/${match.id}/sectors`);
  await refundOne(match);
  expect(left.json.items[0].available).toBe(0);
  const row = (await monolith.dataSource.query(`select * from matches where id = $1`, [match.id])) as { id: string }[];
  expect(row).toHaveLength(1);
  const result = await monolith.get(CheckSale).execute({ ...row[0], saleStatus: 'open', queueRequired: true } as never, {});
  expect([result.remaining.sectors[0]?.available, result.status]).toEqual([0, 'open']);
});
