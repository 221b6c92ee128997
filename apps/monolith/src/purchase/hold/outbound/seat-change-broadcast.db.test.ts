import { openDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, whenReady, type RedisConnection } from '#platform/redis/redis-connection';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Reservation, SectorForSale } from '../../application/ports.ts';
import { openHoldQueue, openSale, writerConnection } from '../../testing/hold-queues.ts';
import { broadcastBlocked, SeatChangeBroadcast } from './seat-change-broadcast.ts';
import { seatChangesFor, sectorSnapshots } from './load-snapshots.ts';

// Two processes sell one sector, each from its own snapshot. A process learns which seats the other took from broadcasts, or
// because its own proposal of them fails.

const FANS = 40;
const CHANNEL = 'seat_news';

let database: TestDatabase;
let redis: TestRedis;
let dataSource: DataSource;
let publisher: RedisConnection;
let sector: SectorForSale;
const open: { onApplicationShutdown(): Promise<void> }[] = [];
const subscribers: RedisConnection[] = [];

beforeEach(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  dataSource = await openDatabase({ url: database.url, name: 'test' });
  publisher = connectRedis(redis.url, { name: 'test' });
  await whenReady(publisher);
  sector = await openSale(dataSource, 10, 20);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((part) => part.onApplicationShutdown()));
  subscribers.length = 0;
  await closeRedis(publisher);
  await dataSource.destroy();
  await Promise.all([database.close(), redis.close()]);
});

type SellingProcess = Awaited<ReturnType<typeof openProcess>>;

/** Opens the hold queue of a process, which counts its batches. */
async function openProcess({ isSubscribed = true } = {}) {
  const batches = { count: 0 };
  const connection = writerConnection(database.url);
  const commit = connection.commit.bind(connection);
  connection.commit = (...args: Parameters<typeof commit>) => {
    batches.count += 1;
    return commit(...args) as Promise<never[]>;
  };
  const subscriber = await openSubscriber();
  const broadcast = new SeatChangeBroadcast(publisher, subscriber);
  const snapshots = sectorSnapshots(dataSource);
  broadcast.listen(seatChangesFor(snapshots));
  if (isSubscribed) {
    broadcast.subscribe();
    // Redis answers in order: when the subscription to `markers` is confirmed, the one of the broadcast is confirmed too.
    await subscriber.subscribe('markers');
  }
  const queue = openHoldQueue(dataSource, connection, { snapshots, changes: broadcast, random: () => 0 });
  open.push(queue, broadcast);
  const holdTwo = async (): Promise<Reservation> => {
    const fan = { matchId: sector.matchId, userId: randomUUID(), sessionToken: undefined };
    const outcome = await queue.hold({ ...fan, sector, quantity: 2 });
    if (outcome.kind !== 'held') throw new Error(outcome.kind);
    return outcome.reservation;
  };
  return { batches, holdTwo, broadcast };
}

/**
 * Opens a connection that subscribes to messages. `delivered` waits until every such connection has received all earlier messages.
 */
async function openSubscriber(): Promise<RedisConnection> {
  const subscriber = connectRedis(redis.url, { name: 'subscriber', forJobs: true });
  await whenReady(subscriber);
  subscribers.push(subscriber);
  await subscriber.subscribe('markers');
  return subscriber;
}

/** Waits until every subscriber has all earlier messages: one connection publishes, and Redis keeps their order. */
async function delivered(): Promise<void> {
  const marker = randomUUID();
  const arrivals = subscribers.map(
    (subscriber) =>
      new Promise<void>((resolve) => {
        const onMessage = (_channel: string, text: string): void => {
          if (text !== marker) return;
          subscriber.off('message', onMessage);
          resolve();
        };
        subscriber.on('message', onMessage);
      }),
  );
  await publisher.publish('markers', marker);
  await Promise.all(arrivals);
}

/** Two processes hold seats alternately. Returns how many of their batches held no seats. */
async function sellAlternately(first: SellingProcess, second: SellingProcess): Promise<number> {
  // Both processes load their snapshots before the sale.
  await Promise.all([first.holdTwo(), second.holdTwo()]);
  await delivered();
  const before = first.batches.count + second.batches.count;
  for (let sold = 0; sold < FANS; sold += 2) {
    await first.holdTwo();
    await delivered();
    await second.holdTwo();
    await delivered();
  }
  return first.batches.count + second.batches.count - before - FANS;
}

function countMissed(broadcast: SeatChangeBroadcast): { missed: number } {
  const counter = { missed: 0 };
  broadcast.listen({
    taken: () => undefined,
    moving: () => undefined,
    freed: () => undefined,
    missed: () => (counter.missed += 1),
  });
  return counter;
}

function receive(broadcast: SeatChangeBroadcast, message: object): void {
  (broadcast as unknown as { receive(text: string): void }).receive(JSON.stringify(message));
}

test('seat-change broadcasts: processes that receive them propose no seat that another process has taken', async () => {
  expect(await sellAlternately(await openProcess(), await openProcess())).toBe(0);
});

test('negative control: processes that are not subscribed propose taken seats again and again', async () => {
  const processes = [await openProcess({ isSubscribed: false }), await openProcess({ isSubscribed: false })] as const;
  expect(await sellAlternately(...processes)).toBeGreaterThan(5);
});

test('seat-change broadcasts: two processes that sell at the same time propose different rows; a process that sells alone has no rows of its own', async () => {
  const [first, second] = [await openProcess(), await openProcess()];
  await Promise.all([first.holdTwo(), second.holdTwo()]);
  await delivered();
  const rowsOf = async (process: SellingProcess): Promise<Set<string | null>> =>
    new Set((await process.holdTwo()).seats.map(({ row }) => row));
  const rows = await Promise.all([rowsOf(first), rowsOf(second)]);
  expect([...rows[0]].filter((row) => rows[1].has(row))).toEqual([]);
  expect([first.broadcast.share()?.index, second.broadcast.share()?.index].sort()).toEqual([0, 1]);
  expect(first.broadcast.share(Date.now() + 4000)).toBeUndefined();
});

test('seat-change broadcasts: a process that pauses and goes on with the next number has lost no message; a gap in its numbers is a lost message', () => {
  const broadcast = new SeatChangeBroadcast(publisher, publisher);
  const counter = countMissed(broadcast);
  const message = { from: 'other', until: 0, taken: {} };
  receive(broadcast, { ...message, number: 1 });
  expect(broadcast.share(Date.now() + 4000)).toBeUndefined();
  receive(broadcast, { ...message, number: 2 });
  expect(counter.missed).toBe(0);
  receive(broadcast, { ...message, number: 4 });
  expect(counter.missed).toBe(1);
});

test('seat-change broadcasts: a process that sells alone broadcasts at most every 200 ms and without seats, and its receivers refresh', async () => {
  const process = await openProcess();
  const messages: { taken?: unknown }[] = [];
  const subscriber = await openSubscriber();
  subscriber.on('message', (channel: string, text: string) => {
    if (channel === CHANNEL) messages.push(JSON.parse(text) as { taken?: unknown });
  });
  await subscriber.subscribe(CHANNEL);
  const startedAt = Date.now();
  for (let sold = 0; sold < 5; sold += 1) await process.holdTwo();
  const atMost = 1 + Math.floor((Date.now() - startedAt) / 200);
  await delivered();
  subscribers.pop();
  await closeRedis(subscriber);
  expect(messages.length).toBeGreaterThan(0);
  expect(messages.length).toBeLessThanOrEqual(atMost);
  for (const message of messages) expect(message).not.toHaveProperty('taken');
  const receiver = new SeatChangeBroadcast(publisher, publisher);
  const counter = countMissed(receiver);
  receive(receiver, messages[0]!);
  expect(counter.missed).toBe(1);
});

/** The snapshots of both processes have the best two seats as blocked. Then the seats become free, as after a refund. */
async function freeTheBestSeats({ isBroadcast }: { isBroadcast: boolean }): Promise<{ best: string; heldNext: string[] }> {
  const [first, second] = [await openProcess(), await openProcess()];
  const best = (await dataSource.query<{ id: string }[]>(`select id from seats order by rank limit 2`)).map(({ id }) => id);
  await dataSource.query(`update seats set status = 'blocked' where id = any($1)`, [best]);
  await Promise.all([first.holdTwo(), second.holdTwo()]);
  await dataSource.query(`update seats set status = 'available' where id = any($1)`, [best]);
  // Longer than the minimum interval between two refreshes of a snapshot.
  await new Promise((resolve) => setTimeout(resolve, 450));
  if (isBroadcast) first.broadcast.tellFreed(sector.id);
  await delivered();
  // These holds do not wait for the refresh that they start.
  await Promise.all([first.holdTwo(), second.holdTwo()]);
  await new Promise((resolve) => setTimeout(resolve, 450));
  const held = [await first.holdTwo(), await second.holdTwo()];
  return { best: best[0]!, heldNext: held.flatMap(({ seats }) => seats.map(({ seatId }) => seatId)) };
}

test('seat-change broadcasts: seats freed without the end of a hold are proposed after the next hold, by every process that receives the broadcast', async () => {
  const { best, heldNext } = await freeTheBestSeats({ isBroadcast: true });
  expect(heldNext).toContain(best);
});

test('negative control: without the broadcast, processes do not propose the freed seats', async () => {
  const { best, heldNext } = await freeTheBestSeats({ isBroadcast: false });
  expect(heldNext).not.toContain(best);
});

test('seat-change broadcasts: blocked seats are no longer proposed; their sender does not count as a selling process, nor its messages as lost', async () => {
  const process = await openProcess();
  await process.holdTwo();
  const free = await dataSource.query<{ id: string }[]>(`select id from seats where status = 'available' order by rank limit 20`);
  const blocked = free.map(({ id }) => id);
  await dataSource.query(`update seats set status = 'blocked' where id = any($1::uuid[])`, [blocked]);
  const counter = countMissed(process.broadcast);
  for (const part of [blocked.slice(0, 10), blocked.slice(10)]) broadcastBlocked(publisher, { [sector.id]: part });
  await delivered();
  const before = process.batches.count;
  const { seats } = await process.holdTwo();
  expect([process.batches.count - before, process.broadcast.share(), counter.missed]).toEqual([1, undefined, 0]);
  expect(seats.map(({ seatId }) => seatId).filter((seatId) => blocked.includes(seatId))).toEqual([]);
});

test('seat-change broadcasts: after a lost broadcast a refresh corrects the snapshot, so the next proposal succeeds', async () => {
  const [first, second] = [await openProcess(), await openProcess()];
  await Promise.all([first.holdTwo(), second.holdTwo()]);
  await delivered();
  // Number 7 as the first message of a process: numbers 1 to 6 are lost.
  await publisher.publish(CHANNEL, JSON.stringify({ from: 'third', number: 7, until: Date.now() + 60_000, taken: {} }));
  await publisher.publish(CHANNEL, 'not JSON');
  const [seat] = await dataSource.query<{ id: string }[]>(
    `select id from seats where status = 'available' order by rank limit 1`,
  );
  await dataSource.query(`update seats set status = 'blocked' where id = $1`, [seat?.id]);
  await new Promise((resolve) => setTimeout(resolve, 450));
  const before = first.batches.count;
  await first.holdTwo();
  expect(first.batches.count - before).toBe(1);
});
