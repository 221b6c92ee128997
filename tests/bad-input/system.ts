import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Redis } from 'ioredis';
import { createHash, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { DataSource } from 'typeorm';
import { queueKeys } from '#contracts/queue-keys';
import { loadConfig } from '#platform/config/load-config';
import { developmentSecrets } from '#platform/config/settings';
import { routesOf, type DeclaredRoute } from '#platform/http/route-table';
import { openDatabase } from '#platform/postgres/database';
import { createLogger } from '#platform/logging/logger';
import { createTestDatabase, createTestRedis } from '#testing/test-database';
import { monolithConfig } from '../../apps/monolith/src/config.ts';
import { createMonolith } from '../../apps/monolith/src/monolith.ts';
import { signWebhook } from '../../apps/monolith/src/payment/outbound/webhooks.ts';
import { openResources } from '../../apps/monolith/src/resources.ts';
import { queueServiceConfig } from '../../apps/queue-service/src/config.ts';
import { createQueueService } from '../../apps/queue-service/src/queue-service.ts';

/** The user id of the fan to whom the sample data belongs. */
export const FAN_ID = '0190a000-0000-7000-8000-0000000000f1';
/** The user id of a fan who owns none of the sample data. */
export const OTHER_FAN_ID = '0190a000-0000-7000-8000-0000000000f2';
/** The user id of the partner who acts for the sample quota. */
export const PARTNER_ID = '0190a000-0000-7000-8000-0000000000bb';
/** The user id of the operator and of the steward. */
export const STAFF_ID = '0190a000-0000-7000-8000-0000000000aa';
/** The secret with which our services call each other. */
export const INTERNAL_SECRET = developmentSecrets.INTERNAL_AUTH_SECRET;

/** A new random idempotency key. */
export const newKey = (): string => randomUUID().replaceAll('-', '');

/** One running HTTP service, with the routes that it declares. */
export interface Service {
  readonly app: NestFastifyApplication;
  readonly port: number;
  readonly routes: readonly DeclaredRoute[];
}

/** Ids of the sample data, which exists before the tests send bad requests. All of it belongs to FAN_ID. */
export interface SampleIds {
  matchId: string;
  queueMatchId: string;
  sectorId: string;
  /** A sector of the match with a queue. */
  queueSectorId: string;
  queueSeatId: string;
  seatId: string;
  freeSeatIds: string[];
  heldReservationId: string;
  orderedReservationId: string;
  orderId: string;
  intentId: string;
  ticketId: string;
  /** The offer of this ticket to somebody else. */
  givenOfferId: string;
  /** An offer of another fan to FAN_ID. */
  receivedOfferId: string;
  /** A quota of the sample match, for which PARTNER_ID acts. */
  quotaId: string;
  /** A webhook, to which nothing was sent. */
  webhookId: string;
}

/** Both HTTP services, created by their production code and connected to each other. */
export interface Services {
  readonly monolith: Service;
  readonly queue: Service;
  readonly redisUrl: string;
  /** Connections of the owner of the schema, who may change every row. */
  readonly dataSource: DataSource;
  close(): Promise<void>;
}

/** The services with sample data of every kind. */
export interface System extends Services {
  readonly ids: SampleIds;
  /** A text that represents all stored data: equal texts mean that no data changed. */
  snapshot(): Promise<string>;
}

const logger = createLogger({ service: 'test', level: process.env.TEST_LOG_LEVEL ?? 'silent' });

async function listen(app: NestFastifyApplication): Promise<Service> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.getHttpServer().address() as AddressInfo).port, routes: routesOf(app) };
}

/** Starts both services with their own database and Redis. */
export async function openServices(settings: Readonly<Record<string, string>> = {}): Promise<Services> {
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const env = {
    // The rights of the services are enough for every call.
    DATABASE_URL: database.servicesUrl,
    REDIS_URL: redis.url,
    RATE_LIMIT_USER_PER_MINUTE: '0',
    RATE_LIMIT_WRITES_PER_MINUTE: '0',
    RATE_LIMIT_IP_PER_MINUTE: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    ...settings,
  };
  const queue = await listen(await createQueueService(loadConfig(queueServiceConfig, env), logger));
  const config = loadConfig(monolithConfig, { ...env, QUEUE_INTERNAL_URL: `http://127.0.0.1:${queue.port}` });
  const resources = await openResources(config, 'monolith', 4);
  const monolith = await listen(await createMonolith(resources));
  const owner = await openDatabase({ url: database.url, name: 'test', poolSize: 2 });
  return {
    monolith,
    queue,
    redisUrl: redis.url,
    dataSource: owner,
    async close() {
      await owner.destroy();
      await monolith.app.close();
      await queue.app.close();
      await redis.close();
      await database.close();
    },
  };
}

/** Starts both services and creates the sample data. */
export async function openSystem(): Promise<System> {
  const services = await openServices();
  const redis = new Redis(services.redisUrl);
  const snapshot = async (): Promise<string> => `${await tableDigests(services.dataSource)}\n${await waitingRoomDigest(redis)}`;
  const close = async (): Promise<void> => {
    await redis.quit();
    await services.close();
  };
  try {
    const ids = await createSampleData(services.monolith, services.queue);
    await waitUntilStable(snapshot);
    return { ...services, ids, snapshot, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until the stored data has not changed for 1.5 s. Then the background work has finished, even that which runs once a second. */
async function waitUntilStable(snapshot: () => Promise<string>): Promise<void> {
  let [before, unchangedChecks] = [await snapshot(), 0];
  while (unchangedChecks < 15) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = await snapshot();
    unchangedChecks = now === before ? unchangedChecks + 1 : 0;
    before = now;
  }
}

async function tableDigests(dataSource: DataSource): Promise<string> {
  const names = await dataSource.query<{ name: string }[]>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1",
  );
  // A successful call that changes nothing, such as a read of personal data, adds a row to the audit log; a refused call adds none (tests/audit).
  // A fan about whom nothing is kept may erase it: the row has nothing to search for.
  const conditions: Readonly<Record<string, string>> = {
    audit_log: 'where before is not null or after is not null',
    erasures: `where traces #> '{ids,0}' is not null`,
  };
  const rowsOf = (name: string): string => `"${name}" t ${conditions[name] ?? ''}`;
  const digests = names.map(
    ({ name }) =>
      `select '${name}' as name, count(*) || ' ' || coalesce(md5(string_agg(t::text, '\n' order by t::text)), '') as rows from ${rowsOf(name)}`,
  );
  const rows = await dataSource.query<{ name: string; rows: string }[]>(digests.join(' union all '));
  // PostgreSQL may read the tables in parallel, in any order.
  return rows
    .map(({ name, rows: digest }) => `${name} ${digest}`)
    .sort()
    .join('\n');
}

const SETTINGS = ['status', 'processing_rate', 'max_open_windows', 'useful_windows', 'reason', 'total_size'];

/**
 * The lines, settings, windows and events of the waiting room, as key names and a hash. Presence times are left out, and the token
 * bucket that limits the turns per minute, because they change by themselves. A `queue_restored` key with the value 0 is left out
 * too: it only caches for a minute that a match has no queue.
 */
async function waitingRoomDigest(redis: Redis): Promise<string> {
  const found = (await redis.keys('*queue*')).filter((key) => !/^({notification}|queue_seen:)/.test(key)).sort();
  const restoredValues = await Promise.all(
    found.map((key) => (key.startsWith('queue_restored:') ? redis.get(key) : Promise.resolve('1'))),
  );
  const keys = found.filter((_, index) => Number(restoredValues[index]) > 0);
  const states = await Promise.all(
    (await redis.smembers(queueKeys.matches))
      .sort()
      .map(async (matchId) => [
        await redis.zrange(queueKeys.line(matchId), '0', '-1', 'WITHSCORES'),
        await redis.hmget(queueKeys.meta(matchId), ...SETTINGS),
        await redis.hgetall(queueKeys.windows(matchId)),
        await redis.xlen(queueKeys.events(matchId)),
      ]),
  );
  return `${keys.join(' ')}\n${createHash('sha256').update(JSON.stringify(states)).digest('hex')}`;
}

type Json = Record<string, unknown>;

function caller({ app }: Service) {
  return async (
    method: 'GET' | 'POST' | 'PUT',
    url: string,
    payload?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Json> => {
    const answer = await app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { 'x-mock-user-id': FAN_ID, 'idempotency-key': newKey(), 'content-type': 'application/json', ...headers },
      ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
    });
    if (answer.statusCode >= 300) throw new Error(`${method} ${url} answered ${answer.statusCode} ${answer.body}`);
    return answer.body === '' ? {} : answer.json<Json>();
  };
}

const stadium = {
  home: 'Hrvatska',
  away: 'Italija',
  venue: 'Poljud',
  kickoff_at: '2027-06-01T18:00:00Z',
  currency: 'EUR',
  max_tickets_per_fan: 20,
  sectors: [
    { name: 'A', kind: 'seated', gate: 'G1', price_cents: 3000, rows: 4, seats_per_row: 10 },
    { name: 'T', kind: 'standing', price_cents: 1000, capacity: 10 },
  ],
};

async function createSampleData(monolith: Service, queue: Service): Promise<SampleIds> {
  const [call, join] = [caller(monolith), caller(queue)];
  const ops = { 'x-mock-user-id': STAFF_ID, 'x-mock-roles': 'ops' };
  const openSale = async (facts: Json): Promise<Json> => {
    const match = await call('POST', '/ops/matches', { ...stadium, ...facts }, ops);
    await call('POST', `/ops/matches/${String(match.id)}/sale`, { action: 'open' }, ops);
    return match;
  };
  const match = await openSale({ queue_required: false });
  const queued = await openSale({ queue_required: true, max_open_windows: 0 });
  const matchId = String(match.id);
  const sectorId = String((match.sectors as Json[])[0]?.id);
  const [queueMatchId, queueSectorId] = [String(queued.id), String((queued.sectors as Json[])[0]?.id)];
  const seatsOf = async (match: string, sector: string): Promise<{ id: string }[]> =>
    (await call('GET', `/matches/${match}/sectors/${sector}/seats`)).items as { id: string }[];
  const seats = await seatsOf(matchId, sectorId);
  const hold = async (seatId: string | undefined, fan = {}): Promise<string> =>
    String((await call('POST', `/matches/${matchId}/reservations`, { seat_ids: [seatId] }, fan)).id);
  const pay = (reservationId: string, seatId: string | undefined, fan = {}): Promise<Json> => {
    const body = { holders: [{ seat_id: seatId, name: 'Ana' }], email: 'ana@example.hr' };
    return call('POST', `/reservations/${reservationId}/checkout`, body, fan);
  };
  const ticketOf = async (seatId: string | undefined, fan = {}): Promise<{ orderId: string; ticketId: string }> => {
    const order = await pay(await hold(seatId, fan), seatId, fan);
    await deliverPayment(monolith, String((order.payment as Json).intent_id));
    const [ticket] = (await call('GET', '/tickets', undefined, fan)).items as Json[];
    return { orderId: String(order.order_id), ticketId: String(ticket?.id) };
  };

  const heldReservationId = await hold(seats[0]?.id);
  const orderedReservationId = await hold(seats[2]?.id);
  const { payment } = await pay(orderedReservationId, seats[2]?.id);
  const { orderId, ticketId } = await ticketOf(seats[4]?.id);
  await call('PUT', '/me', { email: 'ana@example.hr', name: 'Ana', locale: 'hr' });
  await call('PUT', '/me/devices/phone', { fcm_token: 'token-of-a-phone' });
  const giver = { 'x-mock-user-id': '0190a000-0000-7000-8000-0000000000f7' };
  const foreign = await ticketOf(seats[6]?.id, giver);
  const received = await call('POST', `/tickets/${foreign.ticketId}/transfer`, { to_user_id: FAN_ID }, giver);
  const given = await call('POST', `/tickets/${ticketId}/transfer`, { to_email: 'friend@example.hr' });
  await join('POST', `/queue/${queueMatchId}/join`, {});
  const places = [{ sector_id: String((match.sectors as Json[])[1]?.id), quantity: 4 }];
  const quotaFields = { name: 'Media', kind: 'media', members: [PARTNER_ID], places };
  const quota = await call('POST', `/ops/matches/${matchId}/quotas`, quotaFields, ops);
  // Nobody gets a quota back here.
  const webhookFields = { url: 'https://partner.example/events', events: ['quota.returned'] };
  const webhook = await call('POST', '/ops/webhooks', webhookFields, ops);
  return {
    matchId,
    queueMatchId,
    sectorId,
    queueSectorId,
    queueSeatId: String((await seatsOf(queueMatchId, queueSectorId))[0]?.id),
    seatId: String(seats[0]?.id),
    freeSeatIds: seats.slice(20).map(({ id }) => id),
    heldReservationId,
    orderedReservationId,
    orderId,
    intentId: String((payment as Json).intent_id),
    ticketId,
    givenOfferId: String(given.id),
    receivedOfferId: String(received.id),
    quotaId: String(quota.id),
    webhookId: String(webhook.id),
  };
}

async function deliverPayment({ app }: Service, intentId: string): Promise<void> {
  const intent = { id: intentId, object: 'payment_intent', amount: 3000, amount_received: 3000, currency: 'eur' };
  const payload = Buffer.from(
    JSON.stringify({ id: `evt_${intentId}`, type: 'payment_intent.succeeded', data: { object: intent } }),
  );
  const headers = { 'stripe-signature': signWebhook(payload, developmentSecrets.STRIPE_WEBHOOK_SECRET, new Date()) };
  const answer = await app.inject({ method: 'POST', url: '/api/v1/payments/webhooks/stripe', payload, headers });
  if (answer.statusCode !== 200) throw new Error(`the webhook was answered ${answer.statusCode} ${answer.body}`);
}
