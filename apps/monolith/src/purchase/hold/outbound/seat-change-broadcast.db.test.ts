import { layOut } from '#domain/catalog/stadium-layout';
import { newId } from '#platform/ids';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Reservation, SectorForSale } from '../../application/ports.ts';
import { PostgresSeatInventory } from '../../availability/outbound/postgres-seat-inventory.ts';
import { PostgresPurchaseWindows } from '../../turns/outbound/postgres-purchase-windows.ts';
import type { GrantedTurns } from '../../turns/outbound/redis-granted-turns.ts';
import { BatchedSeatHolds } from './batched-seat-holds.ts';
import { HOLD_PLANNING } from './hold-statement.ts';
import { WriterConnection } from './writer-connection.ts';
import { SectorSnapshots } from './sector-snapshots.ts';
import { SeatChangeBroadcast, tellGone } from './seat-change-broadcast.ts';

// Two processes sell one sector, each from its own memory: what the other took one hears of, or finds out by losing it.

const FANS = 40;

let database: TestDatabase;
let redis: TestRedis;
let dataSource: DataSource;
let publisher: RedisConnection;
let sector: SectorForSale;
const open: { close(): Promise<void> }[] = [];
const ears: RedisConnection[] = [];

beforeEach(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  dataSource = await openDatabase({ url: database.url, name: 'test' });
  publisher = connectRedis(redis.url, { name: 'test' });
  await whenReady(publisher);
  const matchId = newId();
  sector = {
    ...{ id: newId(), matchId, name: 'East', kind: 'seated', gate: null },
    ...{ priceCents: 1000, currency: 'EUR', capacity: 200 },
  };
  await dataSource.query(
    `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows)
     values ($1, 'a', 'b', 'v', now() + interval '9 days', 'EUR', 4, false, 'open', 600, 1000)`,
    [matchId],
  );
  const places = layOut({ kind: 'seated', rows: 10, seatsPerRow: 20 }, 0, 1);
  await new PostgresTransactionManager(dataSource, { deadlineMs: 10_000 }).run((tx) =>
    new PostgresSeatInventory(dataSource).layOut(tx, matchId, [{ sectorId: sector.id, places }]),
  );
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  ears.length = 0;
  await closeRedis(publisher);
  await dataSource.destroy();
  await Promise.all([database.drop(), redis.close()]);
});

type OpenProcess = Awaited<ReturnType<typeof openProcess>>;

/** A process that counts how often it asked the database for seats. */
async function openProcess({ deaf = false } = {}) {
  const asked = { times: 0 };
  const lane = new WriterConnection({ url: database.url, name: 'holds', planning: HOLD_PLANNING, onRetry: () => undefined });
  const commit = lane.commit.bind(lane);
  lane.commit = (...args: Parameters<typeof commit>) => {
    asked.times += 1;
    return commit(...args) as Promise<never[]>;
  };
  const ear = await openEar();
  const news = new SeatChangeBroadcast(publisher, ear);
  const maps = new SectorSnapshots(dataSource);
  news.listen(maps);
  if (!deaf) {
    news.follow();
    // Redis answers in order: the news are subscribed to when this is.
    await ear.subscribe('all_heard');
  }
  const noTurns = { of: () => Promise.resolve(undefined) } as unknown as GrantedTurns;
  const holds = new BatchedSeatHolds([lane], maps, new PostgresPurchaseWindows(dataSource, noTurns), 600, news, () => 0);
  open.push(holds, news);
  const hold = async (): Promise<Reservation> => {
    const outcome = await holds.take({
      matchId: sector.matchId,
      userId: randomUUID(),
      sessionToken: undefined,
      sector,
      quantity: 2,
    });
    if (outcome.kind !== 'taken') throw new Error(outcome.kind);
    return outcome.reservation;
  };
  return { asked, hold, news };
}

/** A connection that listens; `heard` waits for it. */
async function openEar(): Promise<RedisConnection> {
  const ear = connectRedis(redis.url, { name: 'news', forJobs: true });
  await whenReady(ear);
  ears.push(ear);
  await ear.subscribe('all_heard');
  return ear;
}

/** When all that was published before has come to every listener: one connection publishes, and Redis keeps its order. */
async function heard(): Promise<void> {
  const marker = randomUUID();
  const all = ears.map(
    (ear) =>
      new Promise<void>((resolve) => {
        const hear = (_channel: string, text: string): void => {
          if (text !== marker) return;
          ear.off('message', hear);
          resolve();
        };
        ear.on('message', hear);
      }),
  );
  await publisher.publish('all_heard', marker);
  await Promise.all(all);
}

/** One sells, then the other; how many of the proposals of each were for nothing. */
async function takeTurns(one: OpenProcess, other: OpenProcess): Promise<number> {
  // Both know the sector as it is before the sale.
  await Promise.all([one.hold(), other.hold()]);
  await heard();
  const before = one.asked.times + other.asked.times;
  for (let sold = 0; sold < FANS; sold += 2) {
    await one.hold();
    await heard();
    await other.hold();
    await heard();
  }
  return one.asked.times + other.asked.times - before - FANS;
}

test('who hears what others took proposes none of it', async () => {
  expect(await takeTurns(await openProcess(), await openProcess())).toBe(0);
});

test('and who does not, loses again and again: the control', async () => {
  expect(await takeTurns(await openProcess({ deaf: true }), await openProcess({ deaf: true }))).toBeGreaterThan(5);
});

test('two that sell at once sell from rows of their own, and one that sells alone from the best', async () => {
  const [one, other] = [await openProcess(), await openProcess()];
  await Promise.all([one.hold(), other.hold()]);
  await heard();
  const rowsOf = async (process: OpenProcess): Promise<Set<string | null>> =>
    new Set((await process.hold()).seats.map(({ row }) => row));
  const rows = await Promise.all([rowsOf(one), rowsOf(other)]);
  expect([...rows[0]].filter((row) => rows[1].has(row))).toEqual([]);
  expect([one.news.share()?.index, other.news.share()?.index].sort()).toEqual([0, 1]);
  expect(one.news.share(Date.now() + 4000)).toBeUndefined();
});

test('who falls silent and speaks again is believed: nothing was lost', () => {
  const news = new SeatChangeBroadcast(publisher, publisher);
  let missed = 0;
  news.listen({ taken: () => undefined, freed: () => undefined, missedSome: () => (missed += 1) });
  const hear = (number: number): void =>
    (news as unknown as { hear(text: string): void }).hear(JSON.stringify({ from: 'other', number, until: 0, taken: {} }));
  hear(1);
  expect(news.share(Date.now() + 4000)).toBeUndefined();
  hear(2);
  expect(missed).toBe(0);
  hear(4);
  expect(missed).toBe(1);
});

test('who sells alone says so without naming seats, and who hears that looks', async () => {
  const one = await openProcess();
  const heardOf: { taken?: unknown }[] = [];
  const ear = await openEar();
  ear.on('message', (channel: string, text: string) => {
    if (channel === 'seat_news') heardOf.push(JSON.parse(text) as { taken?: unknown });
  });
  await ear.subscribe('seat_news');
  const begunAt = Date.now();
  for (let sold = 0; sold < 5; sold += 1) await one.hold();
  // It says so every 200 ms; as a rule the five are sold by then.
  const most = 1 + Math.floor((Date.now() - begunAt) / 200);
  await heard();
  ears.pop();
  await closeRedis(ear);
  expect(heardOf.length).toBeGreaterThan(0);
  expect(heardOf.length).toBeLessThanOrEqual(most);
  for (const news of heardOf) expect(news).not.toHaveProperty('taken');
  let missed = 0;
  const listener = new SeatChangeBroadcast(publisher, publisher);
  listener.listen({ taken: () => undefined, freed: () => undefined, missedSome: () => (missed += 1) });
  (listener as unknown as { hear(text: string): void }).hear(JSON.stringify(heardOf[0]));
  expect(missed).toBe(1);
});

/** The best seat of the sector is not for sale, both have seen it, and then it is: as a refund leaves it. */
async function seatComesBack(told: boolean): Promise<{ best: string; next: (string | undefined)[] }> {
  const [one, other] = [await openProcess(), await openProcess()];
  const [seat, beside] = (await dataSource.query(`select id from seats order by rank limit 2`)) as { id: string }[];
  const best = [seat?.id, beside?.id];
  await dataSource.query(`update seats set status = 'blocked' where id = any($1)`, [best]);
  await Promise.all([one.hold(), other.hold()]);
  await dataSource.query(`update seats set status = 'available' where id = any($1)`, [best]);
  await new Promise((resolve) => setTimeout(resolve, 450));
  if (told) one.news.tellFreed(sector.id);
  await heard();
  const held = [await one.hold(), await other.hold()];
  return { best: String(seat?.id), next: held.flatMap(({ seats }) => seats.map(({ seatId }) => seatId)) };
}

test('seats that come back without a hold that ended are proposed again at once, here and in every other process', async () => {
  const { best, next } = await seatComesBack(true);
  expect(next).toContain(best);
});

test('and who is not told goes on without them: the control', async () => {
  const { best, next } = await seatComesBack(false);
  expect(next).not.toContain(best);
});

test('who only tells that seats are blocked is heard, and is no seller: nobody shares with it, nothing of it is missed', async () => {
  const one = await openProcess();
  await one.hold();
  const free = (await dataSource.query(`select id from seats where status = 'available' order by rank limit 20`)) as {
    id: string;
  }[];
  const seatIds = free.map(({ id }) => id);
  await dataSource.query(`update seats set status = 'blocked' where id = any($1::uuid[])`, [seatIds]);
  let missed = 0;
  one.news.listen({ taken: () => undefined, freed: () => undefined, missedSome: () => (missed += 1) });
  for (const part of [seatIds.slice(0, 10), seatIds.slice(10)]) tellGone(publisher, { [sector.id]: part });
  await heard();
  const before = one.asked.times;
  const { seats } = await one.hold();
  // The first proposal was one that could be had.
  expect([one.asked.times - before, one.news.share(), missed]).toEqual([1, undefined, 0]);
  expect(seats.map(({ seatId }) => seatId).filter((seatId) => seatIds.includes(seatId))).toEqual([]);
});

test('news that were lost are made up for by a look', async () => {
  const [one, other] = [await openProcess(), await openProcess()];
  await Promise.all([one.hold(), other.hold()]);
  await heard();
  // The next one's number says that one before it never came.
  await publisher.publish('seat_news', JSON.stringify({ from: 'third', number: 7, until: Date.now() + 60_000, taken: {} }));
  await publisher.publish('seat_news', 'not news');
  const [seat] = (await dataSource.query(`select id from seats where status = 'available' order by rank limit 1`)) as {
    id: string;
  }[];
  await dataSource.query(`update seats set status = 'blocked' where id = $1`, [seat?.id]);
  await new Promise((resolve) => setTimeout(resolve, 450));
  const before = one.asked.times;
  await one.hold();
  expect(one.asked.times - before).toBe(1);
});
