import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { OutboxRelays } from '../relay/outbox-relays.ts';
import { buy as buySeats, hold, openShop, type SoldSeats } from '../testing/sample-sale.ts';
import { openMonolith, ops, putOnSale, type MatchOnSale, type WholeMonolith } from '../testing/whole-monolith.ts';
import { WebhookSender } from './webhook-sender.ts';

interface Arrived {
  readonly path: string;
  readonly body: string;
  readonly signature: string;
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly created_at: string;
    readonly data: Record<string, unknown>;
  };
}

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;
let receiver: http.Server;
let url: string;
let answer: (request: Arrived, response: ServerResponse) => void;
let arrived: Arrived[];
let match: MatchOnSale;

const accept = (_request: Arrived, response: ServerResponse): void => void response.writeHead(204).end();
const refuse =
  (status: number) =>
  (_request: Arrived, response: ServerResponse): void =>
    void response.writeHead(status).end();

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, WEBHOOK_ALLOW_PRIVATE: 'true' };
  monolith = await openShop(settings);
  receiver = http.createServer(async (request: IncomingMessage, response) => {
    const body = await text(request);
    const signature = String(request.headers['tribina-signature']);
    const call = { path: request.url ?? '', body, signature, event: JSON.parse(body) as Arrived['event'] };
    arrived.push(call);
    answer(call, response);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
});
afterAll(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});
beforeEach(async () => {
  [arrived, answer] = [[], accept];
  await monolith.dataSource.query('delete from webhook_deliveries; delete from webhooks');
  match = await putOnSale(monolith);
});

const events = ['order.completed', 'order.refunded', 'match.cancelled', 'quota.returned'];

async function addWebhook(more: Record<string, unknown> = {}): Promise<{ id: string; secret: string }> {
  const added = await monolith.call('POST', '/api/v1/ops/webhooks', { ...ops, body: { url, events, ...more } });
  expect(added.status).toBe(201);
  return added.json as { id: string; secret: string };
}

async function deliveries(id: string, query = ''): Promise<Record<string, unknown>[]> {
  const listed = await monolith.call('GET', `/api/v1/ops/webhooks/${id}/deliveries${query}`, ops);
  return (listed.json as { items: Record<string, unknown>[] }).items;
}

/** Plans and sends what is due, as the tasks do. */
async function send(): Promise<void> {
  const relay = monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'webhooks')!;
  while ((await relay.runOnce()) > 0);
  const sender = monolith.get(WebhookSender);
  await sender.start();
  await sender.idle();
}

const makeAllDue = () =>
  monolith.dataSource.query(`update webhook_deliveries set next_attempt_at = now() where state = 'pending'`);
const buy = async (): Promise<SoldSeats> => buySeats(monolith, await hold(monolith, match));

describe('what a partner gets', () => {
  test('an order is told once it is completed and once it is refunded, without its fan, in this order', async () => {
    await addWebhook();
    const { orderId, userId } = await buy();
    expect((await monolith.call('POST', `/api/v1/ops/orders/${orderId}/refund`, { ...ops, body: {} })).status).toBe(200);
    await send();
    const [completed, refunded] = arrived.map(({ event }) => event);
    expect(arrived).toHaveLength(2);
    expect(completed).toMatchObject({
      type: 'order.completed',
      data: { order_id: orderId, match_id: match.id, currency: 'EUR' },
    });
    expect(refunded).toMatchObject({ type: 'order.refunded', data: { order_id: orderId, refunded_cents: 5000 } });
    expect(Object.keys(completed!)).toEqual(['id', 'type', 'created_at', 'data']);
    for (const { body } of arrived) {
      expect(body).not.toContain(userId);
      expect(body).not.toContain('@');
    }
  });

  test('a cancelled match is told with its reason, and only once', async () => {
    await addWebhook();
    const cancel = () => monolith.call('POST', `/api/v1/ops/matches/${match.id}/cancel`, { ...ops, body: { reason: 'Storm' } });
    expect([(await cancel()).status, (await cancel()).status]).toEqual([200, 200]);
    await send();
    expect(arrived.map(({ event }) => [event.type, event.data])).toEqual([
      ['match.cancelled', { match_id: match.id, reason: 'Storm' }],
    ]);
  });

  test('the library of Stripe accepts the signature, and refuses another body, another secret and a signature from before', async () => {
    const { secret } = await addWebhook();
    await buy();
    await send();
    const [{ body, signature }] = arrived as [Arrived];
    const stripe = new Stripe('sk_test_of_the_test');
    expect(stripe.webhooks.constructEvent(body, signature, secret)).toMatchObject({ type: 'order.completed' });
    const check = (given: string, header: string, key: string) => () => stripe.webhooks.constructEvent(given, header, key);
    expect(check(`${body} `, signature, secret)).toThrow('signature');
    expect(check(body, signature, `${secret}x`)).toThrow('signature');
    expect(
      check(
        body,
        signature.replace(/t=(\d+)/, (_, at: string) => `t=${Number(at) - 600}`),
        secret,
      ),
    ).toThrow();
  });

  test('an event that no webhook wants is not written; a webhook gets no event of before its creation', async () => {
    await buy();
    await addWebhook({ events: ['match.cancelled'] });
    await buy();
    await send();
    expect(arrived).toEqual([]);
    expect(await monolith.dataSource.query(`select 1 from outbox where destination = 'webhooks'`)).toEqual([]);
  });
});

describe('a receiver that does not accept', () => {
  test.each([
    ['answers 500', 500, 'answered 500'],
    ['redirects', 302, 'answered 302'],
  ])('%s: the event is sent again after 5 s and keeps its id; then it is delivered', async (_name, status, error) => {
    const { id } = await addWebhook();
    await buy();
    answer = refuse(status);
    await send();
    await send();
    expect(arrived).toHaveLength(1);
    const [failed] = await deliveries(id);
    expect(failed).toMatchObject({ state: 'pending', attempts: 1, last_status: status, last_error: error });
    const waitMs = Date.parse(String(failed?.next_attempt_at)) - Date.now();
    expect(waitMs).toBeGreaterThan(2000);
    expect(waitMs).toBeLessThanOrEqual(5000);
    answer = accept;
    await makeAllDue();
    await send();
    expect(arrived.map(({ event }) => event.id)).toEqual([failed?.event_id, failed?.event_id]);
    expect(await deliveries(id)).toMatchObject([{ state: 'delivered', attempts: 2, last_status: 204, last_error: null }]);
  });

  test('the next event of the same order waits for it; other orders do not', async () => {
    await addWebhook();
    const { orderId } = await buy();
    await monolith.call('POST', `/api/v1/ops/orders/${orderId}/refund`, { ...ops, body: {} });
    answer = (request, response) => (request.event.data.order_id === orderId ? refuse(503) : accept)(request, response);
    await buy();
    await send();
    expect(arrived.map(({ event }) => event.type)).toEqual(['order.completed', 'order.completed']);
    answer = accept;
    await makeAllDue();
    await send();
    expect(arrived.map(({ event }) => [event.type, event.data.order_id === orderId]).slice(2)).toEqual([
      ['order.completed', true],
      ['order.refunded', true],
    ]);
  });

  test('after 24 hours the delivery is failed, and the later events of the order follow', async () => {
    const { id } = await addWebhook();
    const { orderId } = await buy();
    await monolith.call('POST', `/api/v1/ops/orders/${orderId}/refund`, { ...ops, body: {} });
    answer = (request, response) => (request.event.type === 'order.completed' ? refuse(500) : accept)(request, response);
    await send();
    await monolith.dataSource.query(
      `update webhook_deliveries set give_up_at = now() + interval '1 second', next_attempt_at = now()`,
    );
    await send();
    await send();
    expect(await deliveries(id)).toMatchObject([
      { type: 'order.refunded', state: 'delivered' },
      { type: 'order.completed', state: 'failed', last_error: 'answered 500', next_attempt_at: null },
    ]);
    expect(await deliveries(id, '?state=failed')).toHaveLength(1);
  });

  test('an operator sends a failed delivery again', async () => {
    const { id } = await addWebhook();
    await buy();
    answer = refuse(500);
    await send();
    await monolith.dataSource.query(`update webhook_deliveries set state = 'failed'`);
    answer = accept;
    const [failed] = await deliveries(id);
    const path = `/api/v1/ops/webhooks/${id}/deliveries/${String(failed?.id)}/retry`;
    expect((await monolith.call('POST', path, ops)).json).toMatchObject({ state: 'pending' });
    await send();
    expect(await deliveries(id)).toMatchObject([{ state: 'delivered' }]);
    expect((await monolith.call('POST', `/api/v1/ops/webhooks/${id}/deliveries/${randomUUID()}/retry`, ops)).status).toBe(404);
  });

  test('a slow receiver does not delay another webhook', async () => {
    await addWebhook({ url: `${url}/slow` });
    const { id } = await addWebhook();
    await buy();
    let slow: ServerResponse | undefined;
    answer = (request, response) => (request.path.endsWith('/slow') ? void (slow = response) : accept(request, response));
    const relay = monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'webhooks')!;
    await relay.runOnce();
    const sender = monolith.get(WebhookSender);
    await sender.start();
    const until = Date.now() + 5000;
    // The slow one may be called a moment later.
    while (((await deliveries(id))[0]?.state !== 'delivered' || !slow) && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect([(await deliveries(id))[0]?.state, slow?.headersSent]).toEqual(['delivered', false]);
    slow?.writeHead(204).end();
    await sender.idle();
  });
});

test('two processes that send at once send each event once', async () => {
  const { id } = await addWebhook();
  for (let orders = 0; orders < 4; orders += 1) await buy();
  const other = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url, WEBHOOK_ALLOW_PRIVATE: 'true' });
  const relay = monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'webhooks')!;
  while ((await relay.runOnce()) > 0);
  const senders = [monolith, other].map((process) => process.get(WebhookSender));
  await Promise.all(senders.map((sender) => sender.start()));
  await Promise.all(senders.map((sender) => sender.idle()));
  await other.close();
  expect(new Set(arrived.map(({ event }) => event.id)).size).toBe(4);
  expect(arrived).toHaveLength(4);
  expect(await deliveries(id)).toMatchObject(Array.from({ length: 4 }, () => ({ state: 'delivered', attempts: 1 })));
});

test('a delivery of a process that died is sent by another one after a minute', async () => {
  await addWebhook();
  await buy();
  answer = refuse(500);
  await send();
  // As if the process had claimed it again and died.
  await monolith.dataSource.query(
    `update webhook_deliveries set next_attempt_at = now() + interval '1 minute', attempts = attempts + 1`,
  );
  answer = accept;
  await send();
  expect(arrived).toHaveLength(1);
  await makeAllDue();
  await send();
  expect(arrived).toHaveLength(2);
});

describe('webhooks of operators', () => {
  test('the secret is in the first answer and in its repetition, encrypted where that is stored, and in no list', async () => {
    const key = randomUUID().replaceAll('-', '');
    const create = () => monolith.call('POST', '/api/v1/ops/webhooks', { ...ops, key, body: { url, events } });
    const [first, again] = [await create(), await create()];
    expect([first.status, again.status, again.json]).toEqual([201, 201, first.json]);
    const { secret } = first.json as { secret: string };
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    const [row] = await monolith.dataSource.query<{ body: string }[]>('select body from idempotency_keys where key = $1', [key]);
    const inRedis = JSON.stringify(await monolith.resources.redis.hgetall(`idempotency:${key}`));
    expect(row?.body).toMatch(/^sealed:/);
    expect(inRedis).toContain('sealed:');
    expect(inRedis).not.toContain(secret);
    const list = await monolith.call('GET', '/api/v1/ops/webhooks', ops);
    expect(list.text).not.toContain(secret);
    expect(list.json).toMatchObject({ items: [{ url, events, deliveries: { pending: 0, failed: 0 } }] });
  });

  test('a deleted webhook gets nothing more, also not what was planned', async () => {
    const { id } = await addWebhook();
    await buy();
    answer = refuse(500);
    await send();
    const remove = () => monolith.call('DELETE', `/api/v1/ops/webhooks/${id}`, ops);
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 204]);
    await makeAllDue();
    await send();
    await buy();
    await send();
    expect(arrived).toHaveLength(1);
    expect((await monolith.call('GET', `/api/v1/ops/webhooks/${id}/deliveries`, ops)).status).toBe(404);
  });

  test.each([
    ['no events', { events: [] }],
    ['an unknown event', { events: ['order.paid'] }],
    ['an event twice', { events: ['order.completed', 'order.completed'] }],
    ['no URL', { url: 'not a url' }],
    ['another protocol', { url: 'ftp://example.com/' }],
    ['a password in the URL', { url: 'https://me:secret@example.com/' }],
    ['an unknown field', { secret: 'mine' }],
  ])('%s: 400', async (_name, fault) => {
    const body = { url, events, ...fault };
    expect((await monolith.call('POST', '/api/v1/ops/webhooks', { ...ops, body })).status).toBe(400);
  });

  test('there are at most 20', async () => {
    for (let number = 1; number <= 20; number += 1) await addWebhook();
    const more = await monolith.call('POST', '/api/v1/ops/webhooks', { ...ops, body: { url, events } });
    expect([more.status, (more.json as { code: string }).code]).toEqual([409, 'INVALID_STATE']);
  });

  test('a caller who has only a part of the roles is refused', async () => {
    const headers = { 'x-mock-roles': 'ops:read,ops:sale,ops:money,ops:lists' };
    expect((await monolith.call('GET', '/api/v1/ops/webhooks', { ...ops, headers })).status).toBe(403);
  });
});

describe('without WEBHOOK_ALLOW_PRIVATE', () => {
  let strict: WholeMonolith;
  beforeAll(async () => {
    strict = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  });
  afterAll(() => strict.close());

  test.each([
    'http://example.com/',
    'https://127.0.0.1/',
    'https://10.1.2.3/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:192.168.0.1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/',
  ])('%s is refused', async (given) => {
    const added = await strict.call('POST', '/api/v1/ops/webhooks', { ...ops, body: { url: given, events } });
    expect(added.status).toBe(400);
  });

  test('a URL that leads to a private address is not called', async () => {
    const { id } = await addWebhook();
    await buy();
    const relay = monolith.get(OutboxRelays).relays.find(({ destination }) => destination.name === 'webhooks')!;
    await relay.runOnce();
    await strict.get(WebhookSender).start();
    await strict.get(WebhookSender).idle();
    expect(arrived).toEqual([]);
    expect(await deliveries(id)).toMatchObject([
      { attempts: 1, last_status: null, last_error: 'the address is not on the public internet' },
    ]);
  });
});
