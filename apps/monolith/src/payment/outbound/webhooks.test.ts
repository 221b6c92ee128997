import { createHmac } from 'node:crypto';
import { readWebhook, signWebhook } from './webhooks.ts';

const secret = 'whsec_test_0000000000000000000000';
const now = new Date('2026-11-18T12:00:00Z');
const seconds = now.getTime() / 1000;

const intent = {
  id: 'pi_1',
  object: 'payment_intent',
  amount: 9000,
  amount_received: 8000,
  currency: 'eur',
  status: 'succeeded',
  metadata: {},
};
const event = (type: string, object: unknown = intent) =>
  Buffer.from(JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } }));
const body = event('payment_intent.succeeded');
const mac = (timestamp: number | string, bytes: Buffer, key = secret) =>
  createHmac('sha256', key).update(`${timestamp}.`).update(bytes).digest('hex');
const read = (rawBody: Buffer, signature: string | undefined) => readWebhook({ rawBody, signature, secret, now });
const signed = (rawBody: Buffer) => read(rawBody, `t=${seconds},v1=${mac(seconds, rawBody)}`);

test.each([
  ['payment_intent.succeeded', { outcome: 'succeeded', intentId: 'pi_1', amountCents: 8000, currency: 'EUR' }],
  ['payment_intent.payment_failed', { outcome: 'failed', intentId: 'pi_1', amountCents: 9000, currency: 'EUR' }],
  ['payment_intent.canceled', { outcome: 'canceled', intentId: 'pi_1', amountCents: 9000, currency: 'EUR' }],
  ['payment_intent.created', { outcome: 'other', intentId: undefined }],
  ['charge.refunded', { outcome: 'other', intentId: undefined }],
  ['__proto__', { outcome: 'other', intentId: undefined }],
  ['toString', { outcome: 'other', intentId: undefined }],
])('a signed event of type %s is parsed', (type, expected) => {
  expect(signed(event(type))).toMatchObject({ eventId: 'evt_1', type, ...expected });
});

test('an event whose type we do not use is accepted without a payment intent', () => {
  expect(signed(event('payout.paid', 'whatever')).outcome).toBe('other');
});

test('readWebhook accepts a body signed by signWebhook', () => {
  expect(read(body, signWebhook(body, secret, now)).eventId).toBe('evt_1');
});

test('one valid signature out of two is enough, in either order', () => {
  const [old, good] = [mac(seconds, body, 'whsec_old'), mac(seconds, body)];
  expect(read(body, `t=${seconds},v1=${old},v1=${good}`).eventId).toBe('evt_1');
  expect(read(body, `t=${seconds},v1=${good},v1=${old}`).eventId).toBe('evt_1');
});

test('the signature is checked over the raw bytes, also if they are not UTF-8', () => {
  const notUtf8 = Buffer.concat([body.subarray(0, body.length - 1), Buffer.from([0x20, 0xff, 0x7d])]);
  expect(() => signed(notUtf8)).toThrow('The body is not JSON.');
});

const at = (age: number) => `t=${seconds - age},v1=${mac(seconds - age, body)}`;
test.each([300, 0, -300])('a signature of %d s ago is accepted', (age) => {
  expect(read(body, at(age)).eventId).toBe('evt_1');
});

test.each([
  ['missing', body, undefined, 'The signature is missing.'],
  ['empty', body, '', 'The signature is missing.'],
  ['malformed', body, 'nonsense', 'The signature is malformed.'],
  ['of an unknown scheme', body, `t=${seconds},v0=${mac(seconds, body)}`, 'The signature is malformed.'],
  ['made with another secret', body, `t=${seconds},v1=${mac(seconds, body, 'x')}`, 'The signature does not fit the body.'],
  ['of another time', body, `t=${seconds - 1},v1=${mac(seconds, body)}`, 'The signature does not fit the body.'],
  ['of another body', event('payment_intent.canceled'), at(0), 'The signature does not fit the body.'],
  [
    'of the same body without its last blank',
    Buffer.concat([body, Buffer.from(' ')]),
    at(0),
    'The signature does not fit the body.',
  ],
  ['too old', body, at(301), 'The signature is more than 300 seconds away from now.'],
  ['from the future', body, at(-301), 'The signature is more than 300 seconds away from now.'],
])('a signature that is %s is refused', (_, rawBody, signature, detail) => {
  expect(() => read(rawBody, signature)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED', message: detail }));
});

test.each([
  ['an empty body', ''],
  ['a body that is not JSON', 'id=1'],
  ['an array', '[]'],
  ['null', 'null'],
  ['an event without id', JSON.stringify({ type: 'x', data: { object: {} } })],
  ['an event without data', JSON.stringify({ id: 'evt_1', type: 'x' })],
  ['a successful payment without an amount', event('payment_intent.succeeded', { id: 'pi_1', currency: 'eur' }).toString()],
  ['a successful payment of half a cent', event('payment_intent.succeeded', { ...intent, amount_received: 0.5 }).toString()],
])('%s is refused even with a valid signature', (_, text) => {
  expect(() => signed(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
});
