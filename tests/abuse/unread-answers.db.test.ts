import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { startMonolith, type RunningService } from '../../bench/instruments/service.ts';

// Attack: clients ask for large answers, several on one connection, and read nothing. The monolith must not keep the answers in memory.

const CONNECTIONS = Number(process.env.ABUSE_CONNECTIONS ?? 60);
const REQUESTS_PER_CONNECTION = 5;
/** A row of the seat list takes about 140 bytes, so this sector takes 2 MB. */
const SECTOR = { name: 'North', kind: 'seated', price_cents: 1000, rows: 110, seats_per_row: 170 };
/** 300 answers of 2 MB would be 600 MB. */
const ALLOWED_GROWTH_MB = Number(process.env.ABUSE_ALLOWED_MB ?? 50);

let database: TestDatabase;
let redis: TestRedis;
let monolith: RunningService;
let seatsPath: string;
let seats: string;

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, RATE_LIMIT_IP_PER_MINUTE: '0', LOG_LEVEL: 'fatal' };
  monolith = await startMonolith(settings);
  const response = await fetch(`${monolith.url}/api/v1/ops/matches`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': randomUUID().replaceAll('-', ''),
      'x-mock-user-id': randomUUID(),
      'x-mock-roles': 'ops',
    },
    body: JSON.stringify({
      ...{ home: 'A', away: 'B', venue: 'C', kickoff_at: new Date(Date.now() + 86_400_000).toISOString(), currency: 'EUR' },
      ...{ max_tickets_per_fan: 4, queue_required: false, sectors: [SECTOR] },
    }),
  });
  const match = (await response.json()) as { id: string; sectors: { id: string }[] };
  seatsPath = `/api/v1/matches/${match.id}/sectors/${match.sectors[0]!.id}/seats`;
  seats = await (await fetch(monolith.url + seatsPath)).text();
  expect(seats.length).toBeGreaterThan(2_000_000);
}, 60_000);

afterAll(async () => {
  await monolith.stop();
  await redis.close();
  await database.close();
});

async function residentMb(): Promise<number> {
  const page = await (await fetch(`${monolith.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(page)?.[1]) / 1e6;
}

/** Opens a connection that sends `requests` requests for all seats at once and reads nothing. */
async function askWithoutReading(requests: number): Promise<net.Socket> {
  const { hostname, port } = new URL(monolith.url);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${seatsPath} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(requests));
  return socket;
}

test(`${CONNECTIONS} connections that read none of their ${REQUESTS_PER_CONNECTION} answers of 2 MB: the memory grows by less than ${ALLOWED_GROWTH_MB} MB and comes back`, async () => {
  // Some ordinary traffic first, so that the process has its usual size.
  for (let at = 0; at < 50; at += 1) await (await fetch(monolith.url + seatsPath)).text();
  const before = await residentMb();
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => askWithoutReading(REQUESTS_PER_CONNECTION)));
  let peak = before;
  for (let at = 0; at < 15; at += 1) {
    await sleep(200);
    peak = Math.max(peak, await residentMb());
  }
  for (const socket of sockets) socket.destroy();
  await sleep(1000);
  const after = await residentMb();
  process.stderr.write(
    `resident memory: ${before.toFixed()} MB before, ${peak.toFixed()} MB peak, ${after.toFixed()} MB after\n`,
  );
  expect(peak - before).toBeLessThan(ALLOWED_GROWTH_MB);
  expect(after - before).toBeLessThan(ALLOWED_GROWTH_MB);
}, 60_000);

test('a slow client that reads gets all of its answers, in order and complete', async () => {
  const socket = await askWithoutReading(3);
  const whole = seats.length;
  let received = '';
  const deadline = Date.now() + 25_000;
  while (received.length < 3 * whole && Date.now() < deadline) {
    const bytes = socket.read(Math.min(64 * 1024, socket.readableLength || 1)) as Buffer | null;
    if (bytes) received += bytes.toString('latin1');
    await sleep(20);
  }
  socket.destroy();
  const bodies = received.split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/).slice(1);
  expect(bodies).toHaveLength(3);
  expect(bodies.every((body) => body === seats)).toBe(true);
}, 40_000);
