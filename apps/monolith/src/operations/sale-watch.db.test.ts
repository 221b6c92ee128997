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
import { QueueKeeper } from '../waiting-room/inbound/queue-keeper.schedule.ts';
import { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';
import { QueueStandIn } from '../waiting-room/testing/queue-stand-in.ts';
import { FollowSale } from './application/follow-sale.ts';
import { TellWhatIsLeft } from './application/tell-what-is-left.ts';
import { SettleSale } from './application/settle-sale.ts';
import { SaleWatch } from './inbound/sale-watch.schedule.ts';

let database: TestDatabase;
let redis: TestRedis;
let queue: QueueStandIn;
let settings: { DATABASE_URL: string; REDIS_URL: string; QUEUE_INTERNAL_URL: string };
let monolith: WholeMonolith;
let other: WholeMonolith;
let office: BoxOffice;

beforeAll(async () => {
  queue = new QueueStandIn(developmentSecrets.INTERNAL_AUTH_SECRET);
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, QUEUE_INTERNAL_URL: await queue.open() };
  [monolith, other] = await Promise.all([openMonolith(settings), openMonolith(settings)]);
  office = new BoxOffice(monolith);
});
afterAll(async () => {
  await Promise.all([monolith.close(), other.close()]);
  await Promise.all([queue.close(), database.drop(), redis.close()]);
});
beforeEach(async () => {
  queue.mood = 'well';
  // Each test has the sales to itself.
  await monolith.dataSource.query(`update matches set sale_status = 'closed'`);
});

const HOURS = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const onSale = (facts = {}, on = monolith) =>
  putOnSale(on, { queue_required: true, sectors: [seated('East A', 1, 2)], ...facts });
const stateOf = async ({ id }: MatchOnSale) => (await monolith.call('GET', `/api/v1/matches/${id}`)).json.sale.status;
const steer = (match: MatchOnSale, action: string) =>
  monolith.call('POST', `/api/v1/ops/matches/${match.id}/sale`, { ...ops, body: { action }, key: newKey() });
const saidLeft = (match: MatchOnSale) => queue.remaining.get(match.id) ?? [];
const saidSoldOut = (match: MatchOnSale) => saidLeft(match).filter((sectors) => sectors.length === 0).length;
const usefulOf = (match: MatchOnSale) =>
  queue.controls.get(match.id)?.flatMap(({ useful_windows: useful }) => (typeof useful === 'number' ? [useful] : [])) ?? [];

/** As the loops of every replica do, a second after the last time; what one has just told, the relays have carried. */
async function second(replicas = [monolith, other]): Promise<void> {
  await pause(1020);
  await Promise.all(replicas.map((replica) => replica.get(SaleWatch).runOnce()));
  await relay(replicas);
}
async function relay(replicas = [monolith, other]): Promise<void> {
  await Promise.all(
    replicas.map(async (replica) => {
      const toTheQueue = replica.get(RelayApi).relays.find(({ destination }) => destination.name === 'waiting-room');
      await toTheQueue?.runOnce();
    }),
  );
}
async function heldAll(match: MatchOnSale): Promise<HeldSeats> {
  const as = '0190a000-0000-7000-8000-0000000000b1';
  const queued = await monolith.dataSource.query<{ queue_required: boolean }[]>(
    `select queue_required from matches where id = $1`,
    [match.id],
  );
  const turn = queued[0]?.queue_required ? await grantTurn(monolith, match.id, as) : undefined;
  return office.held(match, { as, quantity: 2, ...(turn ? { turn } : {}) });
}
async function sold(match: MatchOnSale): Promise<Ordered> {
  const ordered = await office.ordered(await heldAll(match));
  await office.settle(office.report(ordered));
  return ordered;
}
/** One ticket of the match is refunded, at the other replica. */
async function giveBack(match: MatchOnSale): Promise<void> {
  const [ticket] = await office.rows<{ id: string; order_id: string }>(
    `select id, order_id from tickets where match_id = $1 and status = 'valid' limit 1`,
    [match.id],
  );
  const refund = { ...ops, body: { ticket_ids: [ticket?.id] } };
  const { status, text } = await other.call('POST', `/api/v1/ops/orders/${ticket?.order_id}/refund`, refund);
  if (status !== 200) throw new Error(`not refunded: ${text}`);
}

describe('nothing free and nothing held', () => {
  test('ends the sale by itself, and the waiting room hears it once, whoever of two replicas looks', async () => {
    const match = await onSale();
    await second();
    await sold(match);
    expect(await stateOf(match)).toBe('open');
    await second();
    await second();
    await second();
    expect([await stateOf(match), saidSoldOut(match)]).toEqual(['sold_out', 1]);
    const turn = await grantTurn(monolith, match.id, '0190a000-0000-7000-8000-0000000000b2');
    const refused = await office.hold(match, { as: '0190a000-0000-7000-8000-0000000000b2', turn });
    expect([refused.status, refused.json.code]).toEqual([409, 'SOLD_OUT']);
  });

  test('is not so while somebody holds or pays', async () => {
    const match = await onSale();
    const held = await heldAll(match);
    await second();
    expect(await stateOf(match)).toBe('open');
    await office.ordered(held);
    await second();
    expect([await stateOf(match), saidSoldOut(match)]).toEqual(['open', 0]);
  });

  test('ends a sale without a waiting room, too, and tells nobody', async () => {
    const match = await onSale({ queue_required: false });
    await sold(match);
    await second();
    expect([await stateOf(match), queue.controls.get(match.id), saidLeft(match)]).toEqual(['sold_out', undefined, []]);
    await giveBack(match);
    await pause(2100);
    await second();
    expect([await stateOf(match), (await office.hold(match)).status]).toEqual(['open', 201]);
  });

  test('does not end what operators have paused, until they resume it', async () => {
    const match = await onSale();
    const held = await office.ordered(await heldAll(match));
    await steer(match, 'pause');
    await office.settle(office.report(held));
    await second();
    expect([await stateOf(match), saidSoldOut(match), usefulOf(match).at(-1)]).toEqual(['paused', 0, 0]);
    await steer(match, 'resume');
    await second();
    expect([await stateOf(match), saidSoldOut(match)]).toEqual(['sold_out', 1]);
  });

  test('is for the database to say, not for who looked: a seat that came back in between keeps the sale open', async () => {
    const match = await onSale();
    await sold(match);
    await giveBack(match);
    expect(await monolith.get(SettleSale).execute(match.id)).toBe('open');
  });

  test('is asked of a whole stadium for one mark of the server, which has few', async () => {
    const match = await onSale({ sectors: [seated('East A', 40, 50)] });
    await office.rows(`update seats set status = 'blocked' where match_id = $1`, [match.id]);
    const marks = await monolith.get(TransactionManager).run(async (tx) => {
      const anyLeft = await monolith.get(PurchaseApi).anyLeft(tx, match.id);
      // Its own only: what others have watched is remembered for a while, and all test databases have tables of the same number.
      const kinds = await inside(tx).rows<{ kind: string; marks: number }>(
        `select locktype as kind, count(*)::int as marks from pg_locks where mode = 'SIReadLock' and relation = 'seats'::regclass
         and virtualtransaction = (select virtualtransaction from pg_locks where locktype = 'virtualxid' and pid = pg_backend_pid())
         group by 1`,
      );
      return { anyLeft, kinds };
    });
    expect(marks).toEqual({ anyLeft: false, kinds: [{ kind: 'relation', marks: 1 }] });
  });

  test('is decided by one of many who want to at once', async () => {
    const match = await onSale();
    await sold(match);
    const settled = await Promise.all(
      Array.from({ length: 8 }, (_, turn) => (turn % 2 ? monolith : other).get(SettleSale).execute(match.id)),
    );
    expect(new Set(settled)).toEqual(new Set(['sold_out']));
    const rows = await office.outbox(match.id);
    expect(rows.filter(({ event }) => event === 'match.sold_out')).toHaveLength(1);
  });
});

describe('the way to the waiting room', () => {
  test('who decides and dies before telling is followed by another who tells', async () => {
    const doomed = await openMonolith(settings);
    const match = await onSale();
    await relay();
    await sold(match);
    queue.mood = 'down';
    expect(await doomed.get(SettleSale).execute(match.id)).toBe('sold_out');
    await doomed.close();
    await relay();
    expect(saidSoldOut(match)).toBe(0);
    queue.mood = 'well';
    await office.rows(`update outbox set available_at = now()`);
    await relay();
    await relay();
    expect(saidSoldOut(match)).toBe(1);
  });

  test('that was shut for a minute is found by the keeper of the queues before the message comes by again', async () => {
    const match = await onSale();
    await relay();
    await sold(match);
    queue.mood = 'down';
    await monolith.get(SettleSale).execute(match.id);
    await relay();
    queue.mood = 'well';
    await monolith.get(QueueKeeper).runOnce();
    expect(saidSoldOut(match)).toBe(1);
    expect(await monolith.get(QueueKeeper).runOnce()).toBe(0);
  });

  test('never says closed, which would end the turns of those who still pay', async () => {
    const match = await onSale();
    await second();
    await sold(match);
    await second();
    await monolith.call('PATCH', `/api/v1/ops/matches/${match.id}`, { ...ops, body: { home: 'Hajduk' } });
    queue.forget();
    await monolith.get(QueueKeeper).runOnce();
    const statuses = queue.controls.get(match.id)?.map(({ status }) => status);
    expect([statuses, queue.lastControl(match.id), saidSoldOut(match)]).toEqual([
      [undefined],
      { processing_rate: 600, max_open_windows: 1000, opens_at: null, useful_windows: 0, reason: null },
      1,
    ]);
  });
});

describe('seats that come back', () => {
  test('open the sale again with as many useful windows as there are seats, and it can be sold out again', async () => {
    const match = await onSale();
    await sold(match);
    await second();
    await giveBack(match);
    await pause(2100);
    await second();
    expect(await stateOf(match)).toBe('open');
    expect(queue.lastControl(match.id)?.status).toBe('active');
    expect([usefulOf(match).at(-1), saidLeft(match).at(-1)]).toEqual([
      1,
      [{ sector_id: match.sectors[0]?.id, name: 'East A', available: 1 }],
    ]);
    const as = '0190a000-0000-7000-8000-0000000000b3';
    const last = await office.ordered(await office.held(match, { as, turn: await grantTurn(monolith, match.id, as) }));
    await office.settle(office.report(last));
    await second();
    expect([await stateOf(match), saidSoldOut(match)]).toEqual(['sold_out', 2]);
  });

  test('do not open what operators have closed', async () => {
    const match = await onSale();
    await sold(match);
    await second();
    await steer(match, 'close');
    await giveBack(match);
    await second();
    expect(await stateOf(match)).toBe('closed');
    expect((await steer(match, 'open')).json.sale.status).toBe('open');
  });
});

describe('what the waiting room is told of a sale that runs', () => {
  test('useful windows: free seats and open windows that hold some; before it opens, and when it changes', async () => {
    const match = await onSale({ sectors: [seated('East A', 2, 5), seated('West B', 1, 5)], opens_at: HOURS(1) });
    await second();
    // Told by the watch, and with the new match itself.
    expect([usefulOf(match), queue.lastControl(match.id)?.status]).toEqual([[15, 15], 'scheduled']);
    await steer(match, 'open');
    expect(queue.lastControl(match.id)).toMatchObject({ status: 'active', useful_windows: 15 });
    const [ana, ben] = ['0190a000-0000-7000-8000-0000000000c1', '0190a000-0000-7000-8000-0000000000c2'];
    const turn = await grantTurn(monolith, match.id, ana);
    await office.held(match, { as: ana, turn, quantity: 3 });
    await office.held(match, { as: ana, turn, sector: 1, quantity: 1 });
    await grantTurn(monolith, match.id, ben);
    await second();
    // 11 free seats, and one window holds; the other has nothing and is one of those who may look for the 11.
    expect(usefulOf(match)).toEqual([15, 15, 15, 12]);
    await second();
    expect(usefulOf(match)).toEqual([15, 15, 15, 12]);
    await office.rows(`update purchase_windows set ended_at = now() where session_token = $1`, [turn]);
    await second();
    expect(usefulOf(match)).toEqual([15, 15, 15, 12, 11]);
  });

  test('useful windows: an idle window keeps no seat from the fans behind it, however it got its idle time', async () => {
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
    const ended = async (index: number, token: string, spans: readonly (readonly [from: number, to: number])[]) => {
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
    // 8 minutes old: held from minute 7 to 5 and from 6 to 4 ago, that is 3 minutes; idle for 5.
    await ended(3, onAndOff, [
      [7, 5],
      [6, 4],
    ]);
    await minutesOld(onAndOff, 8);
    // 8 minutes old, held for 6 of them: idle for 2.
    await ended(4, busy, [[8, 2]]);
    await minutesOld(busy, 8);
    const { free, usefulWindows } = await monolith.get(PurchaseApi).leftNow(match.id);
    // One window holds, two are idle; the fresh and the busy one are among those who may look for the free seats.
    expect([free, usefulWindows]).toEqual([5, 5 + 1 + 2]);
    await second();
    expect(queue.lastControl(match.id)?.useful_windows).toBe(8);
  });

  test('a count that had to wait is taken again: an older number never follows a newer one', async () => {
    const match = await onSale();
    await second();
    const left = await monolith.get(PurchaseApi).leftNow(match.id);
    expect(left.usefulWindows).toBe(2);
    let telling: Promise<unknown> = Promise.resolve();
    await other.get(WaitingRoomApi).exclusively(match.id, async () => {
      telling = monolith.get(TellWhatIsLeft).execute(match.id, left, {});
      await office.block(await office.seatIds(match));
      await pause(100);
    });
    await telling;
    expect(queue.lastControl(match.id)?.useful_windows).toBe(0);
    expect(saidLeft(match).at(-1)).toHaveLength(1);
  });

  test('remaining sectors: those with seats, only when they changed', async () => {
    const match = await onSale({ sectors: [seated('East A', 1, 2), seated('West B', 1, 3)] });
    const [east, west] = match.sectors;
    await second();
    await second();
    expect(saidLeft(match)).toHaveLength(1);
    expect(saidLeft(match)[0]).toEqual(
      expect.arrayContaining([
        { sector_id: east?.id, name: 'East A', available: 2 },
        { sector_id: west?.id, name: 'West B', available: 3 },
      ]),
    );
    await sold(match);
    await second();
    expect(saidLeft(match).slice(1)).toEqual([[{ sector_id: west?.id, name: 'West B', available: 3 }]]);
  });

  test('comes from one replica; when that is gone, from another', async () => {
    const match = await onSale({ sectors: [seated('East A', 2, 5)] });
    const leader = await openMonolith(settings);
    const follower = await openMonolith(settings);
    await Promise.all([monolith, other].map((replica) => replica.get(SaleWatch).beforeApplicationShutdown()));
    const rounds = async () => [await leader.get(SaleWatch).runOnce(), await follower.get(SaleWatch).runOnce()];
    expect(await rounds()).toEqual([true, false]);
    expect([await leader.metric('sale_watch_leading'), await follower.metric('sale_watch_leading')]).toEqual([1, 0]);
    expect(usefulOf(match)).toEqual([10]);
    await leader.close();
    expect(await follower.get(SaleWatch).runOnce()).toBe(true);
    await office.block((await office.seatIds(match)).slice(0, 4));
    await pause(1020);
    await follower.get(SaleWatch).runOnce();
    expect(usefulOf(match)).toEqual([10, 10, 6]);
    await follower.close();
  });

  test('a waiting room that is down holds up no other sale', async () => {
    const queued = await onSale();
    const plain = await onSale({ queue_required: false });
    await sold(plain);
    const before = usefulOf(queued).length;
    queue.mood = 'down';
    await second();
    expect([await stateOf(plain), await stateOf(queued), usefulOf(queued).length]).toEqual(['sold_out', 'open', before]);
    queue.mood = 'well';
    await pause(2100);
    await second();
    // By the watch, and by the message about the new match that had to wait.
    expect(usefulOf(queued).slice(before)).toEqual([2, 2]);
  });
});

test('without the database’s word the sale would end with a seat on offer', async () => {
  const match = await onSale();
  await sold(match);
  // Everybody in this process has just seen that nothing is left; then a seat comes back.
  const left = await office.monolith.call('GET', `/api/v1/matches/${match.id}/sectors`);
  await giveBack(match);
  expect(left.json.items[0].available).toBe(0);
  const row = (await monolith.dataSource.query(`select * from matches where id = $1`, [match.id])) as { id: string }[];
  expect(row).toHaveLength(1);
  const followed = await monolith.get(FollowSale).execute({ ...row[0], saleStatus: 'open', queueRequired: true } as never, {});
  expect([followed.left.sectors[0]?.available, followed.status]).toEqual([0, 'open']);
});
