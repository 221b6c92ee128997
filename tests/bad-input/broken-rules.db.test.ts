import { randomUUID } from 'node:crypto';
import { developmentSecrets } from '#platform/config/settings';
import { signWebhook } from '../../apps/monolith/src/payment/outbound/webhooks.ts';
import { callers, inject, type Call } from './calls.ts';
import { newKey, OTHER_FAN_ID, openSystem, type SampleIds, type System } from './system.ts';

// Sends requests that have a valid form but break a rule, such as the ticket limit. Each is refused with its own status and code, and no
// stored data changes.

let system: System;
let before: string;
beforeAll(async () => void (system = await openSystem()));
beforeEach(async () => void (before = await system.snapshot()));
afterEach(async () => expect(await system.snapshot()).toBe(before));
afterAll(() => system.close());

type Case = [description: string, send: (ids: SampleIds) => Partial<Call> & { body?: unknown }, expected: string];

async function outcomeOf(send: Case[1], headers: Call['headers'], method = 'POST'): Promise<string> {
  const { url = '', body, ...rest } = send(system.ids);
  const payload = rest.payload ?? (body === undefined ? undefined : JSON.stringify(body));
  const all = { 'content-type': 'application/json', 'idempotency-key': newKey(), ...headers, ...rest.headers };
  return (await inject(system.monolith, { method, url, ...rest, headers: all, payload })).outcome;
}

const holdUrl = (matchId: string): string => `/api/v1/matches/${matchId}/reservations`;
const hold =
  (body: (ids: SampleIds) => unknown, match: 'matchId' | 'queueMatchId' = 'matchId'): Case[1] =>
  (ids) => ({ url: holdUrl(ids[match]), body: body(ids) });
const withSession =
  (session: string | string[]): Case[1] =>
  (ids) => ({
    url: holdUrl(ids.queueMatchId),
    body: { sector_id: ids.queueSectorId, quantity: 1 },
    headers: { 'x-purchase-session': session },
  });

const holds: Case[] = [
  ['a sector that does not exist', hold(() => ({ sector_id: randomUUID(), quantity: 1 })), '404 NOT_FOUND'],
  ['a sector of another match', hold((ids) => ({ sector_id: ids.queueSectorId, quantity: 1 })), '404 NOT_FOUND'],
  ['a match id as the sector id', hold((ids) => ({ sector_id: ids.matchId, quantity: 1 })), '404 NOT_FOUND'],
  ['a seat that does not exist', hold(() => ({ seat_ids: [randomUUID()] })), '404 NOT_FOUND'],
  ['a seat of another match', hold((ids) => ({ seat_ids: [ids.queueSeatId] })), '404 NOT_FOUND'],
  [
    'a seat of this match and a seat of another match',
    hold((ids) => ({ seat_ids: [ids.freeSeatIds[0], ids.queueSeatId] })),
    '404 NOT_FOUND',
  ],
  ['the same seat twice', hold((ids) => ({ seat_ids: [ids.freeSeatIds[0], ids.freeSeatIds[0]] })), '400 VALIDATION_FAILED'],
  [
    'the same seat twice, once in capitals',
    hold((ids) => ({ seat_ids: [ids.freeSeatIds[0], ids.freeSeatIds[0]?.toUpperCase()] })),
    '400 VALIDATION_FAILED',
  ],
  [
    'both seat ids and a quantity',
    hold((ids) => ({ seat_ids: [ids.freeSeatIds[0]], sector_id: ids.sectorId, quantity: 1 })),
    '400 VALIDATION_FAILED',
  ],
  ['a seat that is held', hold((ids) => ({ seat_ids: [ids.seatId] })), '409 SEATS_UNAVAILABLE'],
  ['a free seat and one that is held', hold((ids) => ({ seat_ids: [ids.freeSeatIds[0], ids.seatId] })), '409 SEATS_UNAVAILABLE'],
  ['more seats than the limit of a fan', hold((ids) => ({ sector_id: ids.sectorId, quantity: 20 })), '409 TICKET_LIMIT_REACHED'],
  [
    'a seat without the session token that the match requires',
    hold((ids) => ({ sector_id: ids.queueSectorId, quantity: 1 }), 'queueMatchId'),
    '403 PURCHASE_WINDOW_REQUIRED',
  ],
  ...['st_', 'st_x', 'x', '*', `st_${'x'.repeat(8000)}`, "st_' or 1=1--", 'st_\u00e9', '{}'].map((session): Case => [
    `a seat with the session token ${session.slice(0, 20)}`,
    withSession(session),
    '403 PURCHASE_WINDOW_REQUIRED',
  ]),
  ['a seat with two session tokens', withSession(['st_a', 'st_b']), '403 PURCHASE_WINDOW_REQUIRED'],
];

test.each(holds)('a hold request for %s is refused', async (_description, send, expected) => {
  expect(await outcomeOf(send, callers.fan)).toBe(expected);
});

const checkout =
  (
    holders: (ids: SampleIds) => unknown[],
    reservation: 'heldReservationId' | 'orderedReservationId' = 'heldReservationId',
  ): Case[1] =>
  (ids) => ({
    url: `/api/v1/reservations/${ids[reservation]}/checkout`,
    body: { holders: holders(ids), email: 'ana@example.hr' },
  });
const holderOf = (seat_id: string | undefined): unknown => ({ seat_id, name: 'Ana' });

const checkouts: Case[] = [
  ['a holder for a seat outside the reservation', checkout((ids) => [holderOf(ids.freeSeatIds[0])]), '400 VALIDATION_FAILED'],
  [
    'a holder for one seat too many',
    checkout((ids) => [holderOf(ids.seatId), holderOf(ids.freeSeatIds[0])]),
    '400 VALIDATION_FAILED',
  ],
  ['two holders for the same seat', checkout((ids) => [holderOf(ids.seatId), holderOf(ids.seatId)]), '400 VALIDATION_FAILED'],
  ['a blank holder name', checkout((ids) => [{ seat_id: ids.seatId, name: ' ' }]), '400 VALIDATION_FAILED'],
];

test.each(checkouts)('a checkout with %s is 400', async (_description, send, expected) => {
  expect(await outcomeOf(send, callers.fan)).toBe(expected);
});

test('a fan who checks out or releases the reservation of another fan gets 404', async () => {
  const other = { 'x-mock-user-id': OTHER_FAN_ID };
  const checkoutOfSample = checkout((ids) => [holderOf(ids.seatId)]);
  expect(await outcomeOf(checkoutOfSample, other)).toBe('404 NOT_FOUND');
  expect(await outcomeOf((ids) => ({ url: `/api/v1/reservations/${ids.heldReservationId}` }), other, 'DELETE')).toBe(
    '404 NOT_FOUND',
  );
});

const createMatch = (sectors: unknown[]): Case[1] => {
  const facts = { home: 'A', away: 'B', venue: 'C', kickoff_at: '2027-06-01T18:00:00Z', currency: 'EUR', max_tickets_per_fan: 4 };
  return () => ({ url: '/api/v1/ops/matches', body: { ...facts, queue_required: false, sectors } });
};
const standing = { name: 'A', kind: 'standing', price_cents: 0, capacity: 60_001 };

const operations: Case[] = [
  ['more than 120,000 seats', createMatch([standing, { ...standing, name: 'B' }]), '400 VALIDATION_FAILED'],
  [
    'two sectors with the same name',
    createMatch([
      { ...standing, capacity: 1 },
      { ...standing, capacity: 2 },
    ]),
    '400 VALIDATION_FAILED',
  ],
  ['rows in a standing sector', createMatch([{ ...standing, rows: 3 }]), '400 VALIDATION_FAILED'],
];

test.each(operations)('creating a match with %s is 400', async (_description, send, expected) => {
  expect(await outcomeOf(send, callers.operator)).toBe(expected);
});

test('an empty change of a match is 400; queue settings for a match without a queue are 409 INVALID_STATE', async () => {
  expect(await outcomeOf((ids) => ({ url: `/api/v1/ops/matches/${ids.matchId}`, body: {} }), callers.operator, 'PATCH')).toBe(
    '400 VALIDATION_FAILED',
  );
  const rate = (ids: SampleIds) => ({ url: `/api/v1/ops/matches/${ids.matchId}/queue`, body: { processing_rate: 5 } });
  expect(await outcomeOf(rate, callers.operator, 'PUT')).toBe('409 INVALID_STATE');
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
const validSignature = signWebhook(Buffer.from(event('evt_9', intent)), developmentSecrets.STRIPE_WEBHOOK_SECRET, new Date());

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
    validSignature.toUpperCase(),
    `${validSignature},${validSignature}`,
    validSignature.replace('v1', 'v0'),
    Array(200)
      .fill(`v1=${'0'.repeat(64)}`)
      .join(','),
  ].map((signature): Case => [
    `with the signature ${signature.slice(0, 24)}`,
    webhook(event('evt_9', intent), signature),
    '400 VALIDATION_FAILED',
  ]),
  ['with the signature of another body', webhook(event('evt_8', intent), validSignature), '400 VALIDATION_FAILED'],
  ['signed an hour ago', signed(event('evt_9', intent), new Date(Date.now() - 3_600_000)), '400 VALIDATION_FAILED'],
  ['signed one hour in the future', signed(event('evt_9', intent), new Date(Date.now() + 3_600_000)), '400 VALIDATION_FAILED'],
  ...[
    ['invalid JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an empty body', ''],
    ['an empty event id', event('')],
    ['a NUL in the event id', event('evt_\0', intent)],
    ['a NUL in the payment id', event('evt_9', { ...intent, id: 'pi_\0' })],
    ['an id of 300 characters', event('e'.repeat(300), intent)],
    ['no payment', event('evt_9')],
    ['a negative amount', event('evt_9', { ...intent, amount: -1 })],
    ['an amount as text', event('evt_9', { ...intent, amount: '3000' })],
    ['an amount beyond the number range', event('evt_9', intent).replace('3000', '1e400')],
    ['an invalid currency', event('evt_9', { ...intent, currency: 'euro' })],
  ].map(([description, payload = '']): Case => [
    `correctly signed with ${description}`,
    signed(payload),
    '400 VALIDATION_FAILED',
  ]),
];

test.each(webhooks)('a payment event %s is 400', async (_description, send, expected) => {
  expect(await outcomeOf(send, {})).toBe(expected);
});

test('sandbox: confirming an unknown payment intent is 404', async () => {
  const url = '/api/v1/sandbox/payments/pi_nobody/confirm';
  expect(await outcomeOf(() => ({ url, body: { outcome: 'succeeded' } }), {})).toBe('404 NOT_FOUND');
});

const queueCalls: [description: string, url: (ids: SampleIds) => string, method: string, expected: string][] = [
  ['joining the line of a match without a queue', (ids) => `/api/v1/queue/${ids.matchId}/join`, 'POST', '404 NOT_FOUND'],
  ['reading the position without having joined', (ids) => `/api/v1/queue/${ids.matchId}/position`, 'GET', '404 NOT_FOUND'],
  ['leaving a line without having joined', (ids) => `/api/v1/queue/${ids.matchId}`, 'DELETE', '204'],
  ['opening a stream with a malformed token', () => '/sse/qt_x', 'GET', '404 NOT_FOUND'],
  ['opening a stream with an unknown token', () => `/sse/qt_${'A'.repeat(43)}`, 'GET', '404 NOT_FOUND'],
  ['a socket request without an upgrade', () => `/ws/qt_${'A'.repeat(43)}`, 'GET', '404 NOT_FOUND'],
];

test.each(queueCalls)(
  'queue service: %s changes no stored data and gets the expected status',
  async (_description, url, method, expected) => {
    const call = { method, url: url(system.ids), headers: { 'x-mock-user-id': OTHER_FAN_ID } };
    expect((await inject(system.queue, call)).outcome).toBe(expected);
  },
);
