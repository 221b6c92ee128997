import { randomUUID } from 'node:crypto';
import { developmentSecrets } from '#platform/config/settings';
import { signWebhook } from '../../apps/monolith/src/payment/outbound/webhooks.ts';
import { callers, inject, type Call } from './calls.ts';
import { newKey, OTHER_FAN, openSystem, type SampleIds, type System } from './system.ts';

// Requests of the right form that make no sense together with what exists: the rules refuse them, and nothing changes.

let system: System;
let before: string;
beforeAll(async () => void (system = await openSystem()));
beforeEach(async () => void (before = await system.snapshot()));
afterEach(async () => expect(await system.snapshot()).toBe(before));
afterAll(() => system.close());

type Case = [what: string, send: (at: SampleIds) => Partial<Call> & { body?: unknown }, says: string];

async function say(send: Case[1], headers: Call['headers'], method = 'POST'): Promise<string> {
  const { url = '', body, ...rest } = send(system.at);
  const payload = rest.payload ?? (body === undefined ? undefined : JSON.stringify(body));
  const all = { 'content-type': 'application/json', 'idempotency-key': newKey(), ...headers, ...rest.headers };
  return (await inject(system.monolith, { method, url, ...rest, headers: all, payload })).said;
}

const holdUrl = (matchId: string): string => `/api/v1/matches/${matchId}/reservations`;
const hold =
  (body: (at: SampleIds) => unknown, match: 'matchId' | 'queueMatchId' = 'matchId'): Case[1] =>
  (at) => ({ url: holdUrl(at[match]), body: body(at) });
const withSession =
  (session: string | string[]): Case[1] =>
  (at) => ({
    url: holdUrl(at.queueMatchId),
    body: { sector_id: at.queueSectorId, quantity: 1 },
    headers: { 'x-purchase-session': session },
  });

const holds: Case[] = [
  ['a sector that never was', hold(() => ({ sector_id: randomUUID(), quantity: 1 })), '404 NOT_FOUND'],
  ['the sector of another match', hold((at) => ({ sector_id: at.queueSectorId, quantity: 1 })), '404 NOT_FOUND'],
  ['a match in place of a sector', hold((at) => ({ sector_id: at.matchId, quantity: 1 })), '404 NOT_FOUND'],
  ['a seat that never was', hold(() => ({ seat_ids: [randomUUID()] })), '404 NOT_FOUND'],
  ['the seat of another match', hold((at) => ({ seat_ids: [at.queueSeatId] })), '404 NOT_FOUND'],
  ['a seat here and one elsewhere', hold((at) => ({ seat_ids: [at.freeSeatIds[0], at.queueSeatId] })), '404 NOT_FOUND'],
  ['the same seat twice', hold((at) => ({ seat_ids: [at.freeSeatIds[0], at.freeSeatIds[0]] })), '400 VALIDATION_FAILED'],
  [
    'the same seat twice, once in capitals',
    hold((at) => ({ seat_ids: [at.freeSeatIds[0], at.freeSeatIds[0]?.toUpperCase()] })),
    '400 VALIDATION_FAILED',
  ],
  [
    'seats and a number of them',
    hold((at) => ({ seat_ids: [at.freeSeatIds[0]], sector_id: at.sectorId, quantity: 1 })),
    '400 VALIDATION_FAILED',
  ],
  ['a seat that is held', hold((at) => ({ seat_ids: [at.seatId] })), '409 SEATS_UNAVAILABLE'],
  ['a free seat and one that is held', hold((at) => ({ seat_ids: [at.freeSeatIds[0], at.seatId] })), '409 SEATS_UNAVAILABLE'],
  ['more than a fan may have', hold((at) => ({ sector_id: at.sectorId, quantity: 20 })), '409 TICKET_LIMIT_REACHED'],
  [
    'without a turn',
    hold((at) => ({ sector_id: at.queueSectorId, quantity: 1 }), 'queueMatchId'),
    '403 PURCHASE_WINDOW_REQUIRED',
  ],
  ...['st_', 'st_x', 'x', '*', `st_${'x'.repeat(8000)}`, "st_' or 1=1--", 'st_\u00e9', '{}'].map((session): Case => [
    `with the turn ${session.slice(0, 20)}`,
    withSession(session),
    '403 PURCHASE_WINDOW_REQUIRED',
  ]),
  ['with two turns', withSession(['st_a', 'st_b']), '403 PURCHASE_WINDOW_REQUIRED'],
];

test.each(holds)('a hold of %s', async (_what, send, says) => {
  expect(await say(send, callers.fan)).toBe(says);
});

const checkout =
  (
    holders: (at: SampleIds) => unknown[],
    reservation: 'heldReservationId' | 'orderedReservationId' = 'heldReservationId',
  ): Case[1] =>
  (at) => ({ url: `/api/v1/reservations/${at[reservation]}/checkout`, body: { holders: holders(at), email: 'ana@example.hr' } });
const named = (seat_id: string | undefined): unknown => ({ seat_id, name: 'Ana' });

const checkouts: Case[] = [
  ['another seat', checkout((at) => [named(at.freeSeatIds[0])]), '400 VALIDATION_FAILED'],
  ['a seat too many', checkout((at) => [named(at.seatId), named(at.freeSeatIds[0])]), '400 VALIDATION_FAILED'],
  ['the same seat twice', checkout((at) => [named(at.seatId), named(at.seatId)]), '400 VALIDATION_FAILED'],
  ['a blank name', checkout((at) => [{ seat_id: at.seatId, name: ' ' }]), '400 VALIDATION_FAILED'],
];

test.each(checkouts)('a checkout with %s', async (_what, send, says) => {
  expect(await say(send, callers.fan)).toBe(says);
});

test('what another fan holds, has ordered or was sent is not there', async () => {
  const other = { 'x-mock-user-id': OTHER_FAN };
  const pay = checkout((at) => [named(at.seatId)]);
  expect(await say(pay, other)).toBe('404 NOT_FOUND');
  expect(await say((at) => ({ url: `/api/v1/reservations/${at.heldReservationId}` }), other, 'DELETE')).toBe('404 NOT_FOUND');
});

const stadium = (sectors: unknown[]): Case[1] => {
  const facts = { home: 'A', away: 'B', venue: 'C', kickoff_at: '2027-06-01T18:00:00Z', currency: 'EUR', max_tickets_per_fan: 4 };
  return () => ({ url: '/api/v1/ops/matches', body: { ...facts, queue_required: false, sectors } });
};
const standing = { name: 'A', kind: 'standing', price_cents: 0, capacity: 60_001 };

const operations: Case[] = [
  ['a stadium of more than 120,000', stadium([standing, { ...standing, name: 'B' }]), '400 VALIDATION_FAILED'],
  [
    'two sectors of one name',
    stadium([
      { ...standing, capacity: 1 },
      { ...standing, capacity: 2 },
    ]),
    '400 VALIDATION_FAILED',
  ],
  ['rows in a standing sector', stadium([{ ...standing, rows: 3 }]), '400 VALIDATION_FAILED'],
];

test.each(operations)('an operator asks for %s', async (_what, send, says) => {
  expect(await say(send, callers.operator)).toBe(says);
});

test('an operator changes nothing, or a queue that is none', async () => {
  expect(await say((at) => ({ url: `/api/v1/ops/matches/${at.matchId}`, body: {} }), callers.operator, 'PATCH')).toBe(
    '400 VALIDATION_FAILED',
  );
  const rate = (at: SampleIds) => ({ url: `/api/v1/ops/matches/${at.matchId}/queue`, body: { processing_rate: 5 } });
  expect(await say(rate, callers.operator, 'PUT')).toBe('409 INVALID_STATE');
});

const event = (id: string, object: unknown = {}): string =>
  JSON.stringify({ id, type: 'payment_intent.succeeded', data: { object } });
const intent = { id: 'pi_1', amount: 3000, currency: 'eur' };
const NO_HEADERS: Call['headers'] = {};
const webhook =
  (payload: string, signature?: string | string[]): Case[1] =>
  () => ({
    url: '/api/v1/payments/webhooks/stripe',
    payload,
    headers: signature === undefined ? NO_HEADERS : { 'stripe-signature': signature },
  });
const signed = (payload: string, at = new Date()): Case[1] =>
  webhook(payload, signWebhook(Buffer.from(payload), developmentSecrets.STRIPE_WEBHOOK_SECRET, at));
const genuine = signWebhook(Buffer.from(event('evt_9', intent)), developmentSecrets.STRIPE_WEBHOOK_SECRET, new Date());

const webhooks: Case[] = [
  ['without a signature', webhook(event('evt_9', intent)), '400 VALIDATION_FAILED'],
  ...[
    '',
    'x',
    't=1,v1=x',
    `t=${Math.floor(Date.now() / 1000)}`,
    't=,v1=',
    `v1=${'0'.repeat(64)}`,
    `t=${'9'.repeat(400)},v1=${'0'.repeat(64)}`,
    `t=NaN,v1=${'0'.repeat(64)}`,
    `t=-1,v1=${'0'.repeat(64)}`,
    genuine.toUpperCase(),
    `${genuine},${genuine}`,
    genuine.replace('v1', 'v0'),
    Array(200)
      .fill(`v1=${'0'.repeat(64)}`)
      .join(','),
  ].map((signature): Case => [
    `signed ${signature.slice(0, 24)}`,
    webhook(event('evt_9', intent), signature),
    '400 VALIDATION_FAILED',
  ]),
  ['signed for another body', webhook(event('evt_8', intent), genuine), '400 VALIDATION_FAILED'],
  ['signed an hour ago', signed(event('evt_9', intent), new Date(Date.now() - 3_600_000)), '400 VALIDATION_FAILED'],
  ['signed for the next hour', signed(event('evt_9', intent), new Date(Date.now() + 3_600_000)), '400 VALIDATION_FAILED'],
  ...[
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['nothing', ''],
    ['no id', event('')],
    ['a NUL in its id', event('evt_\0', intent)],
    ['a NUL in the id of its payment', event('evt_9', { ...intent, id: 'pi_\0' })],
    ['an id of 300 characters', event('e'.repeat(300), intent)],
    ['no payment', event('evt_9')],
    ['an amount below zero', event('evt_9', { ...intent, amount: -1 })],
    ['an amount as text', event('evt_9', { ...intent, amount: '3000' })],
    ['an amount beyond all numbers', event('evt_9', intent).replace('3000', '1e400')],
    ['a currency that is none', event('evt_9', { ...intent, currency: 'euro' })],
  ].map(([what, payload = '']): Case => [`rightly signed with ${what}`, signed(payload), '400 VALIDATION_FAILED']),
];

test.each(webhooks)('a payment event %s', async (_what, send, says) => {
  expect(await say(send, {})).toBe(says);
});

test('a payment nobody asked for cannot be confirmed', async () => {
  const url = '/api/v1/sandbox/payments/pi_nobody/confirm';
  expect(await say(() => ({ url, body: { outcome: 'succeeded' } }), {})).toBe('404 NOT_FOUND');
});

const joins: [what: string, url: (at: SampleIds) => string, method: string, says: string][] = [
  ['joins the line of a match without one', (at) => `/api/v1/queue/${at.matchId}/join`, 'POST', '404 NOT_FOUND'],
  ['asks for a place never taken', (at) => `/api/v1/queue/${at.matchId}/position`, 'GET', '404 NOT_FOUND'],
  ['leaves a line never joined', (at) => `/api/v1/queue/${at.matchId}`, 'DELETE', '204'],
  ['opens the stream of no token', () => '/sse/qt_x', 'GET', '404 NOT_FOUND'],
  ['opens the stream of a token of the right form', () => `/sse/qt_${'A'.repeat(43)}`, 'GET', '404 NOT_FOUND'],
  ['asks for a socket without upgrading', () => `/ws/qt_${'A'.repeat(43)}`, 'GET', '404 NOT_FOUND'],
];

test.each(joins)('a fan %s', async (_what, url, method, says) => {
  const call = { method, url: url(system.at), headers: { 'x-mock-user-id': OTHER_FAN } };
  expect((await inject(system.queue, call)).said).toBe(says);
});
