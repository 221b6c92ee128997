import type { Destination } from '#messaging/outbox/destination';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { openTestApp, type TestAnswer, type TestApp } from '../testing/test-app.ts';
import { PaymentProvider } from './payment-provider.ts';
import { SandboxWebhooks } from './outbound/sandbox-webhooks.ts';
import { PAYMENTS_DESTINATION, PaymentApi, type PaymentIntent } from './payment.api.ts';
import { PaymentDestinations, PaymentModule } from './payment.module.ts';
import { describePaymentProvider } from './testing/payment-provider.contract.ts';
import { FakeShop } from './testing/fake-shop.ts';

let database: TestDatabase;
let redis: TestRedis;
let shopUrl: string;
let testApp: TestApp;
const shop = new FakeShop();
/** Port 1 of this machine, where nothing listens. */
const UNREACHABLE_URL = 'http://127.0.0.1:1';

const open = (settings: Record<string, string> = {}): Promise<TestApp> =>
  openTestApp([PaymentModule], {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    MONOLITH_PORT: new URL(shopUrl).port,
    // As behind a proxy: the public address leads nowhere from inside. A webhook that is sent there never arrives.
    PUBLIC_URL: UNREACHABLE_URL,
    ...settings,
  });

beforeAll(async () => {
  [database, redis, shopUrl] = await Promise.all([createTestDatabase(), createTestRedis(), shop.open()]);
  testApp = await open();
});
beforeEach(async () => {
  shop.received.length = 0;
  shop.answers.length = 0;
  await testApp.dataSource.query('delete from outbox');
});
afterAll(async () => {
  await testApp.close();
  await Promise.all([database.close(), redis.close(), shop.close()]);
});

const newIntent = (): Promise<PaymentIntent> =>
  testApp.app.get(PaymentApi).createIntent({ orderId: randomUUID(), amountCents: 9000, currency: 'EUR' });
const confirm = (intentId: string, outcome: unknown, on = testApp): Promise<TestAnswer> =>
  on.call('POST', `/api/v1/sandbox/payments/${intentId}/confirm`, { key: null, body: { outcome } });
const destination = (name: string, of = testApp): Destination => {
  const found = of.app.get(PaymentDestinations).all.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no destination ${name}`);
  return found;
};
const relay = (of = testApp): Promise<number> => of.relayTo(destination('sandbox-webhook', of)).runOnce();
const receivedEvents = () => shop.received.map(({ body, signature }) => testApp.app.get(PaymentApi).readWebhook(body, signature));
const pending = async (): Promise<{ attempts: number; last_error: string | null }[]> =>
  testApp.dataSource.query('select attempts, last_error from outbox order by seq');
const makeDue = () => testApp.dataSource.query('update outbox set available_at = now()');

describePaymentProvider('The sandbox', () => ({
  provider: testApp.app.get(PaymentProvider),
  pay: async (intentId) => (await confirm(intentId, 'succeeded')).status === 202,
  refundedCents: async (intentId) => {
    const [row] = await testApp.dataSource.query<{ cents: number }[]>(
      'select coalesce(sum(amount_cents), 0)::int as cents from sandbox_refunds where intent_id = $1',
      [intentId],
    );
    return row?.cents ?? 0;
  },
}));

describe('confirming a sandbox payment', () => {
  test('an intent has an absolute confirm URL', async () => {
    const { provider, intentId, clientSecret, confirmUrl } = await newIntent();
    expect(provider).toBe('sandbox');
    expect(intentId).toMatch(/^pi_[0-9A-Za-z]{24}$/);
    expect(clientSecret).toMatch(new RegExp(`^${intentId}_secret_\\w{24}$`));
    expect(confirmUrl).toBe(`${UNREACHABLE_URL}/api/v1/sandbox/payments/${intentId}/confirm`);
  });

  test('a successful payment is sent to the shop as a signed event in Stripe’s format', async () => {
    const { intentId } = await newIntent();
    const answer = await confirm(intentId, 'succeeded');
    expect([answer.status, answer.json]).toEqual([202, { intent_id: intentId, status: 'succeeded' }]);
    await relay();
    expect(shop.received.map(({ path }) => path)).toEqual(['/api/v1/payments/webhooks/stripe']);
    expect(receivedEvents()).toMatchObject([
      {
        type: 'payment_intent.succeeded',
        outcome: 'succeeded',
        intentId,
        amountCents: 9000,
        currency: 'EUR',
        eventId: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      },
    ]);
    const [row] = await testApp.dataSource.query<{ order_id: string }[]>('select order_id from sandbox_intents where id = $1', [
      intentId,
    ]);
    expect(JSON.parse(String(shop.received[0]?.body))).toMatchObject({
      object: 'event',
      data: { object: { object: 'payment_intent', status: 'succeeded', currency: 'eur', metadata: { order_id: row?.order_id } } },
    });
  });

  test('confirming success three times at once gives the same answer and one event', async () => {
    const { intentId } = await newIntent();
    const [first, ...again] = await Promise.all([1, 2, 3].map(() => confirm(intentId, 'succeeded')));
    for (const answer of again) expect([answer.status, answer.json]).toEqual([first?.status, first?.json]);
    expect(await pending()).toHaveLength(1);
  });

  test('a failed payment may then succeed, and the shop receives both events in this order', async () => {
    const { intentId } = await newIntent();
    expect((await confirm(intentId, 'failed')).json).toEqual({ intent_id: intentId, status: 'failed' });
    await confirm(intentId, 'succeeded');
    shop.answers.push(500);
    await relay();
    expect(await relay()).toBe(0);
    await makeDue();
    while ((await relay()) > 0);
    expect(receivedEvents().map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'succeeded']);
  });

  test('an abandoned payment sends no event and can still be paid', async () => {
    const { intentId } = await newIntent();
    expect((await confirm(intentId, 'abandoned')).json).toEqual({ intent_id: intentId, status: 'requires_payment' });
    expect(await pending()).toEqual([]);
    expect((await confirm(intentId, 'succeeded')).status).toBe(202);
  });

  test('a canceled intent cannot be paid', async () => {
    const { intentId } = await newIntent();
    await testApp.app.get(PaymentProvider).cancel(intentId);
    const answer = await confirm(intentId, 'succeeded');
    expect([answer.status, answer.json.code]).toEqual([409, 'INVALID_STATE']);
    expect(await pending()).toEqual([]);
  });

  test('if a payment and a cancellation arrive at the same time, one of them wins, and an event is sent only if the payment won', async () => {
    for (let round = 0; round < 5; round += 1) {
      await testApp.dataSource.query('delete from outbox');
      const { intentId } = await newIntent();
      const [paid] = await Promise.all([confirm(intentId, 'succeeded'), testApp.app.get(PaymentProvider).cancel(intentId)]);
      expect([202, 409]).toContain(paid.status);
      expect(await pending()).toHaveLength(paid.status === 202 ? 1 : 0);
    }
  });

  test.each([
    ['an unknown intent', `pi_${'0'.repeat(24)}`, { outcome: 'succeeded' }, 404, 'NOT_FOUND'],
    ['the id of an event', 'evt_1', { outcome: 'succeeded' }, 404, 'NOT_FOUND'],
    ['a NUL in the id', 'pi_%00', { outcome: 'succeeded' }, 400, 'VALIDATION_FAILED'],
    ['an unknown outcome', `pi_${'0'.repeat(24)}`, { outcome: 'stolen' }, 400, 'VALIDATION_FAILED'],
    ['an unknown field', `pi_${'0'.repeat(24)}`, { outcome: 'failed', amount: 1 }, 400, 'VALIDATION_FAILED'],
    ['no outcome', `pi_${'0'.repeat(24)}`, {}, 400, 'VALIDATION_FAILED'],
    ['an array as body', `pi_${'0'.repeat(24)}`, [], 400, 'VALIDATION_FAILED'],
    ['no body', `pi_${'0'.repeat(24)}`, undefined, 400, 'VALIDATION_FAILED'],
  ])('confirming with %s is refused', async (_, intentId, body, status, code) => {
    const answer = await testApp.call('POST', `/api/v1/sandbox/payments/${intentId}/confirm`, { key: null, body });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });

  test('with a real provider the sandbox confirms nothing, not even an intent that was created before the switch to that provider', async () => {
    const { intentId } = await newIntent();
    const real = await open({ PAYMENT_PROVIDER: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1' });
    const answer = await confirm(intentId, 'succeeded', real);
    const names = real.app.get(PaymentDestinations).all.map(({ name }) => name);
    await real.close();
    expect([answer.status, answer.json.code]).toEqual([404, 'NOT_FOUND']);
    expect(names).toEqual([PAYMENTS_DESTINATION]);
    expect(await pending()).toEqual([]);
  });
});

describe('the webhook of the sandbox', () => {
  test('is sent to the address of the process itself, although PUBLIC_URL is not reachable from inside', async () => {
    const { intentId, confirmUrl } = await newIntent();
    expect(confirmUrl).toBe(`${UNREACHABLE_URL}/api/v1/sandbox/payments/${intentId}/confirm`);
    await confirm(intentId, 'succeeded');
    await relay();
    expect(shop.received.map(({ path }) => path)).toEqual(['/api/v1/payments/webhooks/stripe']);
    expect(await pending()).toEqual([]);
  });

  test('is sent to MONOLITH_INTERNAL_URL if it is set', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    const elsewhere = await open({ MONOLITH_PORT: '1', MONOLITH_INTERNAL_URL: shopUrl });
    await relay(elsewhere);
    await elsewhere.close();
    expect(receivedEvents()).toMatchObject([{ intentId, outcome: 'succeeded' }]);
  });

  test('is sent by another process if the first one dies between the confirmation and the webhook', async () => {
    const { intentId } = await newIntent();
    const dying = await open();
    await confirm(intentId, 'succeeded', dying);
    await dying.close();
    expect(shop.received).toEqual([]);
    const next = await open();
    await relay(next);
    await next.close();
    expect(receivedEvents()).toMatchObject([{ intentId, outcome: 'succeeded' }]);
  });

  test('is sent again with the same event id if the process dies after the webhook and before its commit', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    const real = destination('sandbox-webhook');
    const dying: Destination = {
      name: real.name,
      batchSize: real.batchSize,
      deliver: async (messages) => {
        await real.deliver(messages);
        throw new Error('died');
      },
    };
    await expect(testApp.relayTo(dying).runOnce()).rejects.toThrow('died');
    await relay();
    const events = receivedEvents();
    expect(events).toHaveLength(2);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(1);
    expect(await pending()).toEqual([]);
  });

  test('is retried later and uses up one of its attempts if the shop answers 500', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    shop.answers.push(500);
    await relay();
    expect(await pending()).toEqual([{ attempts: 1, last_error: 'the shop answered the webhook with 500' }]);
    await makeDue();
    await relay();
    expect(await pending()).toEqual([]);
  });

  test('does not follow a redirect, which counts as a failed attempt', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    shop.answers.push(302);
    await relay();
    expect(await pending()).toEqual([{ attempts: 1, last_error: 'the shop answered the webhook with 302' }]);
  });

  test('uses up no attempt while the shop is down', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    const port = Number(new URL(shopUrl).port);
    await shop.close();
    for (let round = 0; round < 3; round += 1) await expect(relay()).rejects.toThrow('does not answer');
    await shop.open(port);
    expect(await pending()).toEqual([{ attempts: 0, last_error: null }]);
    await relay();
    expect(receivedEvents()).toMatchObject([{ intentId }]);
  });

  test('stops waiting for the shop’s answer after the timeout', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    shop.answers.push('hang');
    const webhookSecret = testApp.config.STRIPE_WEBHOOK_SECRET;
    const withShortTimeout = new SandboxWebhooks({ now: () => new Date() }, { shopUrl, webhookSecret, timeoutMs: 100 });
    await expect(testApp.relayTo(withShortTimeout).runOnce()).rejects.toThrow('does not answer');
  });

  test('is signed at sending, so that a message that waited an hour is accepted', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    await testApp.dataSource.query("update outbox set created_at = now() - interval '1 hour'");
    await relay();
    expect(receivedEvents()).toMatchObject([{ intentId, outcome: 'succeeded' }]);
  });
});

describe('commands to the provider', () => {
  test('a refund command that is in the outbox twice refunds the money once', async () => {
    const { intentId } = await newIntent();
    await confirm(intentId, 'succeeded');
    const body = { kind: 'refund', intentId, amountCents: 9000, key: `refund:${intentId}` };
    for (let time = 0; time < 2; time += 1) {
      await testApp.dataSource.query('insert into outbox (id, destination, event, body) values ($1, $2, $3, $4)', [
        randomUUID(),
        PAYMENTS_DESTINATION,
        'order.refunded',
        body,
      ]);
    }
    expect(await testApp.relayTo(destination(PAYMENTS_DESTINATION)).runOnce()).toBe(2);
    const refunds = await testApp.dataSource.query<unknown[]>('select amount_cents from sandbox_refunds where intent_id = $1', [
      intentId,
    ]);
    expect(refunds).toEqual([{ amount_cents: 9000 }]);
    expect((await confirm(intentId, 'succeeded')).json.status).toBe('refunded');
  });
});
