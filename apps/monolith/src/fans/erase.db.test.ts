import { Ids } from '#application/ids';
import { TransactionManager } from '#application/transaction-manager';
import { randomUUID } from 'node:crypto';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../purchase/testing/box-office.ts';
import { TransferOffice } from '../purchase/testing/transfer-office.ts';
import type { TestAnswer } from '../testing/test-app.ts';
import { putOnSale } from '../testing/whole-monolith.ts';
import { ErasableWithFans } from './kept-about-fans.api.ts';
import { EraseFan } from './erase-fan.ts';
import { LateErasures } from './fans.api.ts';

// What is left to the retention job is in tests/privacy.

let opened: OpenBoxOffice;
let office: BoxOffice;
let transfers: TransferOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  transfers = new TransferOffice(office);
});
afterAll(() => opened.close());

const erase = (as: string): Promise<TestAnswer> => office.monolith.call('DELETE', '/api/v1/me', { as });
const begin = (matchId: string): Promise<unknown> =>
  office.rows(`update matches set kickoff_at = now() - interval '1 hour' where id = $1`, [matchId]);
const profileOf = async (as: string): Promise<unknown> => (await office.monolith.call('GET', '/api/v1/me', { as })).json;
const NO_PROFILE = { email: null, name: null, locale: 'hr' };

test('a fan with a valid ticket for a match to come is 409 and keeps everything, also the holds', async () => {
  const match = await putOnSale(office.monolith);
  const fan = await transfers.fan({ email: 'ana@example.hr', name: 'Ana' });
  await transfers.buyer(match, 1, fan);
  const held = await office.held(match, { as: fan });
  const answer = await erase(fan);
  expect([answer.status, answer.json.code, answer.json.detail]).toEqual([
    409,
    'INVALID_STATE',
    'You have a valid ticket for Hrvatska – Italija. Give it away, or try again after the match.',
  ]);
  expect(await profileOf(fan)).toMatchObject({ email: 'ana@example.hr', name: 'Ana' });
  expect(await office.rows('select status from reservations where id = $1', [held.id])).toEqual([{ status: 'held' }]);
  expect(await office.rows('select from erasures where user_id = $1', [fan])).toEqual([]);
});

test('a fan whose order awaits payment is 409; after its seats are released, 204', async () => {
  const match = await putOnSale(office.monolith);
  const fan = randomUUID();
  const held = await office.held(match, { as: fan });
  await office.ordered(held);
  const answer = await erase(fan);
  expect([answer.status, answer.json.code]).toEqual([409, 'INVALID_STATE']);
  await office.release(held);
  expect((await erase(fan)).status).toBe(204);
});

test('after the match the names and addresses of orders and tickets are erased, and the books stay as they were', async () => {
  const match = await putOnSale(office.monolith);
  const fan = await transfers.fan({ email: 'ana@example.hr', name: 'Ana' });
  const { tickets } = await transfers.buyer(match, 2, fan);
  await begin(match.id);
  expect((await erase(fan)).status).toBe(204);
  expect(await profileOf(fan)).toEqual(NO_PROFILE);
  const [order] = await office.rows('select email, holders, client_secret, status, total_cents from orders where user_id = $1', [
    fan,
  ]);
  expect(order).toEqual({ email: '', holders: [], client_secret: null, status: 'completed', total_cents: 5000 });
  expect((await transfers.tickets(fan)).map(({ id, holder_name }) => [id, holder_name]).sort()).toEqual(
    tickets.map(({ id }) => [id, '']).sort(),
  );
  expect((await erase(fan)).status).toBe(204);
});

test('holds are released, and offers to the fan are declined', async () => {
  const match = await putOnSale(office.monolith);
  const fan = await transfers.fan({ email: `${randomUUID()}@example.hr` });
  const held = await office.held(match, { as: fan });
  const giver = await transfers.buyer(match);
  const offer = await transfers.offered(giver.tickets[0], giver.fan, fan);
  expect((await erase(fan)).status).toBe(204);
  expect(await office.rows('select status from reservations where id = $1', [held.id])).toEqual([{ status: 'released' }]);
  expect((await transfers.transfers(giver.fan)).map(({ id, status }) => [id, status])).toEqual([[offer, 'declined']]);
});

test('the tickets that the fan gave away keep the names of their new holders', async () => {
  const match = await putOnSale(office.monolith);
  const receiver = await transfers.fan({ name: 'Ivo' });
  const giver = await transfers.buyer(match);
  await transfers.give(giver.tickets[0], giver.fan, receiver);
  expect((await erase(giver.fan)).status).toBe(204);
  expect((await transfers.tickets(receiver)).map(({ holder_name }) => holder_name)).toEqual(['Ivo']);
  expect((await transfers.tickets(giver.fan)).map(({ holder_name }) => holder_name)).toEqual(['']);
});

test('a payment that arrives for an erased order is refunded, and nobody gets a mail', async () => {
  const match = await putOnSale(office.monolith);
  const fan = randomUUID();
  const held = await office.held(match, { as: fan });
  const ordered = await office.ordered(held);
  await office.release(held);
  expect((await erase(fan)).status).toBe(204);
  expect(await office.settle(office.report(ordered))).toBe('refunded');
  const messages = await office.rows<{ destination: string; event: string }>(
    'select destination, event from outbox where aggregate_id = $1 order by seq',
    [ordered.orderId],
  );
  expect(messages).toContainEqual({ destination: 'payments', event: 'order.refunded' });
  expect(messages.filter(({ destination }) => destination === 'email')).toEqual([]);
});

test('a fan about whom nothing is kept is 204, and so is a repeated call; without a caller it is 401', async () => {
  const fan = randomUUID();
  expect([(await erase(fan)).status, (await erase(fan)).status]).toEqual([204, 204]);
  expect((await office.monolith.call('DELETE', '/api/v1/me')).status).toBe(401);
});

test('operators are told when a fan waits for more than ten minutes', async () => {
  const fan = randomUUID();
  await erase(fan);
  const late = office.monolith.get(LateErasures);
  await office.rows(`update erasures set requested_at = now() - interval '9 minutes'`);
  expect(await late.find()).toEqual([]);
  await office.rows(`update erasures set requested_at = now() - interval '11 minutes' where user_id = $1`, [fan]);
  const [row] = await office.rows<{ id: string }>('select id from erasures where user_id = $1', [fan]);
  expect((await late.find()).map(({ subject }) => subject)).toEqual([`erasure:${row?.id}`]);
});

test.each([
  ['mock', ['stranger@example.hr']],
  ['jwt', ['ana@example.hr']],
] as const)('with AUTH_MODE=%s copies are searched by the addresses %j', async (AUTH_MODE, searched) => {
  // Anybody can write the address of a stranger into a profile.
  const fan = await transfers.fan({ email: 'Stranger@example.hr' });
  const { monolith } = office;
  const eraseFan = new EraseFan(monolith.get(TransactionManager), new ErasableWithFans(), monolith.get(Ids), { AUTH_MODE });
  await eraseFan.execute({ userId: fan, verifiedEmail: 'Ana@example.hr' });
  const [erasure] = await office.rows<{ emails: string[] }>(
    `select traces -> 'emails' as emails from erasures where user_id = $1`,
    [fan],
  );
  expect(erasure?.emails).toEqual(searched);
});
