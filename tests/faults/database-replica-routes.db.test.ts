import { ReplicaReads } from '#platform/postgres/replica-reads';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MatchSearch } from '../../apps/monolith/src/catalog/match-search.ts';
import { openMonolith, ops, putOnSale, type WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { onServer, startReplicatedServers, type ReplicatedServers } from './replicated-servers.ts';

// Two monoliths with a real replica of the database. One writes, the other one reads at once: what do its routes show?

let servers: ReplicatedServers;
let database: TestDatabase;
let redis: TestRedis;
let writer: WholeMonolith;
let reader: WholeMonolith;
const fan = { as: randomUUID() };

const measure = async () => void (await Promise.all([writer, reader].map(({ get }) => get(ReplicaReads).measure())));
const pauseReplay = () => onServer(servers.replica.url, 'select pg_wal_replay_pause()');
const resumeReplay = () => onServer(servers.replica.url, 'select pg_wal_replay_resume()');

beforeAll(async () => {
  servers = await startReplicatedServers();
  process.env.TEST_DATABASE_URL = servers.primary.url;
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const replicaUrl = new URL(servers.toReplica.url);
  replicaUrl.pathname = new URL(database.url).pathname;
  const settings = { DATABASE_URL: database.url, DATABASE_REPLICA_URL: replicaUrl.href, REDIS_URL: redis.url };
  [writer, reader] = [await openMonolith(settings), await openMonolith(settings)];
}, 60_000);

/** Waits until the reader answers from the replica: the replica has replayed everything. */
beforeEach(async () => {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    await measure();
    const before = await reader.metric('database_replica_reads_total');
    await reader.call('GET', '/api/v1/matches', fan);
    if ((await reader.metric('database_replica_reads_total')) > before) return;
    await sleep(50);
  }
  throw new Error('the replica is not read');
});

afterAll(async () => {
  await Promise.all([writer.close(), reader.close()]);
  await Promise.all([database.close(), redis.close()]);
  await servers.close();
});

/** A fan's hold and order on the writer. */
async function order(matchId: string, sectorId: string) {
  const held = await writer.call('POST', `/api/v1/matches/${matchId}/reservations`, {
    ...fan,
    body: { sector_id: sectorId, quantity: 2 },
  });
  const seats = held.json.seats as { seat_id: string }[];
  const holders = seats.map(({ seat_id }, index) => ({ seat_id, name: `Fan ${index}` }));
  const checkout = await writer.call('POST', `/api/v1/reservations/${held.json.id}/checkout`, {
    ...fan,
    body: { holders, email: 'ana@example.hr' },
  });
  expect([held.status, checkout.status]).toEqual([201, 201]);
  return { reservationId: held.json.id as string, orderId: checkout.json.order_id as string };
}

test('the catalogue, the free seats, the report and the operators’ lists are read from the replica; a fan’s own things are not', async () => {
  const match = await putOnSale(writer);
  const { reservationId, orderId } = await order(match.id, match.sectors[0]?.id ?? '');
  await sleep(300);
  await measure();
  const sector = `matches/${match.id}/sectors`;
  const routes: [path: string, caller: object, isFromReplica: boolean][] = [
    ['matches', {}, true],
    ['matches', fan, true],
    [`matches/${match.id}`, {}, true],
    [`matches/${match.id}`, fan, true],
    ['matches?q=hrvatska', {}, true],
    [sector, {}, true],
    ['ops/matches', ops, true],
    ['ops/matches?q=hrvatska', ops, true],
    [`ops/matches/${match.id}/report`, ops, true],
    ['ops/orders', ops, true],
    [`${sector}/${match.sectors[0]?.id}/seats`, {}, false],
    [`reservations/${reservationId}`, fan, false],
    ['orders', fan, false],
    [`orders/${orderId}`, fan, false],
    ['tickets', fan, false],
    ['me', fan, false],
  ];
  for (const [path, caller, isFromReplica] of routes) {
    const before = await reader.metric('database_replica_reads_total');
    expect([path, (await reader.call('GET', `/api/v1/${path}`, caller)).status]).toEqual([path, 200]);
    const answeredByReplica = (await reader.metric('database_replica_reads_total')) - before;
    expect([path, answeredByReplica > 0]).toEqual([path, isFromReplica]);
  }
  expect(await reader.metric('database_replica_fallbacks_total')).toBeLessThan(20);
});

describe('while the replica does not replay', () => {
  let matchId: string;
  let sectorId: string;

  beforeEach(async () => {
    const match = await putOnSale(writer, { home: 'Osijek' });
    await writer.get(MatchSearch).indexOutdated();
    [matchId, sectorId] = [match.id, match.sectors[0]?.id ?? ''];
    await sleep(300);
    await measure();
    await pauseReplay();
  });
  afterEach(resumeReplay);

  test('an operator who changes a match sees the change at once, in lists, in one match, through another process', async () => {
    const changed = await writer.call('PATCH', `/api/v1/ops/matches/${matchId}`, { ...ops, body: { venue: 'Poljud' } });
    expect(changed.json.venue).toBe('Poljud');
    const venues = async (path: string, caller: object) => {
      const { json } = await reader.call('GET', `/api/v1/${path}`, caller);
      return (json.items ?? [json]).find(({ id }: { id: string }) => id === matchId)?.venue as string;
    };
    for (const path of ['ops/matches', 'ops/matches?q=osijek', 'matches', 'matches?q=osijek', `matches/${matchId}`])
      expect([path, await venues(path, ops)]).toEqual([path, 'Poljud']);
    // Negative control: somebody without credentials is answered by the replica, which does not have the change yet.
    expect(await venues(`matches/${matchId}`, {})).toBe('Maksimir');
  });

  test('a match that was just created is found, also without credentials', async () => {
    const { id } = await putOnSale(writer);
    expect((await reader.call('GET', `/api/v1/matches/${id}`)).status).toBe(200);
    expect((await reader.call('GET', `/api/v1/matches/${id}/sectors`)).status).toBe(200);
  });

  test('the next page after a match that was just created is not empty', async () => {
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString();
    const { id } = await putOnSale(writer, { kickoff_at: hours(1) });
    const first = await writer.call('GET', '/api/v1/matches?limit=1');
    // The writer may be answered by the replica, which does not have the match. A caller with credentials sees it.
    const fresh = await writer.call('GET', '/api/v1/matches?limit=1', fan);
    expect([first.status, fresh.json.items[0].id]).toEqual([200, id]);
    const second = await reader.call('GET', `/api/v1/matches?limit=1&cursor=${fresh.json.next_cursor}`);
    expect(second.json.items).toHaveLength(1);
  });

  test('a fan sees the own reservation and order at once, and everybody sees the seats that are taken', async () => {
    const { reservationId, orderId } = await order(matchId, sectorId);
    expect((await reader.call('GET', `/api/v1/reservations/${reservationId}`, fan)).json.status).toBe('ordered');
    const orders = await reader.call('GET', '/api/v1/orders', fan);
    expect(orders.json.items[0].id).toBe(orderId);
    const sectors = await reader.call('GET', `/api/v1/matches/${matchId}/sectors`);
    expect(sectors.json.items[0].available).toBe(48);
  });

  test('operators see an order in the report and in the list of orders at once', async () => {
    const { orderId } = await order(matchId, sectorId);
    const report = await reader.call('GET', `/api/v1/ops/matches/${matchId}/report`, ops);
    expect(report.json).toMatchObject({ held: 2, available: 48, orders: { awaiting_payment: 1 } });
    const orders = await reader.call('GET', `/api/v1/ops/orders?match_id=${matchId}`, ops);
    expect(orders.json.items[0].id).toBe(orderId);
  });
});

test('without the replica every route answers, the service is ready, and the metric of the lag grows', async () => {
  const match = await putOnSale(writer);
  servers.toReplica.refuse();
  try {
    for (const path of ['matches', `matches/${match.id}`, `matches/${match.id}/sectors`])
      expect((await reader.call('GET', `/api/v1/${path}`)).status).toBe(200);
    expect((await reader.call('GET', `/api/v1/ops/matches/${match.id}/report`, ops)).status).toBe(200);
    expect((await reader.call('GET', '/health/ready')).json).toEqual({ status: 'ok', down: [] });
    await measure();
    await sleep(1100);
    await measure();
    expect(await reader.metric('database_replica_lag_seconds')).toBeGreaterThan(1);
  } finally {
    servers.toReplica.restore();
  }
});
