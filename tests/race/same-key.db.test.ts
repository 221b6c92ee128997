import { randomUUID } from 'node:crypto';
import { HoldSeats } from '../../apps/monolith/src/purchase/hold/application/hold-seats.ts';
import { newKey, type TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';

const COPIES = 50;

let replicas: Replicas;
let match: MatchOnSale;

beforeAll(async () => {
  replicas = await openReplicas();
  match = await putOnSale(replicas.offices[0].monolith, { max_tickets_per_fan: 20, sectors: [seated('East A', 20, 20)] });
});
afterAll(() => replicas.close());

/** The replica for the copy with this index: copies alternate between the two replicas. */
const officeOf = (index: number) => replicas.offices[index % 2 === 0 ? 0 : 1];
const sendCopies = (send: (index: number) => Promise<TestAnswer>) =>
  Promise.all(Array.from({ length: COPIES }, (_, index) => send(index)));
const count = async (table: string, column: string, value: string) =>
  (await replicas.dataSource.query<{ n: number }[]>(`select count(*)::int as n from ${table} where ${column} = $1`, [value]))[0]
    ?.n;

/** Expects that one copy had the effect, all other copies got its answer or IDEMPOTENCY_KEY_IN_USE, and a later copy got its answer. */
function expectOneEffect(answers: readonly TestAnswer[], later: TestAnswer, success: number): void {
  const done = answers.filter(({ status }) => status === success);
  expect(done.length).toBeGreaterThan(0);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  expect(done.filter(({ headers }) => headers['idempotency-replayed'] !== 'true')).toHaveLength(1);
  for (const { json, status } of answers) if (status !== success) expect(json.code).toBe('IDEMPOTENCY_KEY_IN_USE');
  expect([later.status, later.text, later.headers['idempotency-replayed']]).toEqual([success, done[0]?.text, 'true']);
}

test(`${COPIES} copies of one hold request with the same idempotency key, over two replicas, make one reservation`, async () => {
  const [as, key] = [randomUUID(), newKey()];
  const answers = await sendCopies((index) => officeOf(index).hold(match, { as, key, quantity: 2 }));
  report('one hold, many copies', tally(answers));
  expectOneEffect(answers, await officeOf(1).hold(match, { as, key, quantity: 2 }), 201);
  expect(await count('reservations', 'user_id', as)).toBe(1);
});

test(`${COPIES} copies of one hold request make one reservation even while Redis is flushed repeatedly, because of the idempotency row in PostgreSQL`, async () => {
  const [as, key] = [randomUUID(), newKey()];
  let isFlushing = true;
  const flushing = (async () => {
    while (isFlushing) {
      await officeOf(0).monolith.resources.redis.flushdb();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  const answers = await sendCopies((index) => officeOf(index).hold(match, { as, key, quantity: 2 }));
  isFlushing = false;
  await flushing;
  await officeOf(0).monolith.resources.redis.flushdb();
  report('one hold, many copies, Redis flushed', tally(answers));
  expectOneEffect(answers, await officeOf(0).hold(match, { as, key, quantity: 2 }), 201);
  expect(await count('reservations', 'user_id', as)).toBe(1);
});

test(`${COPIES} copies of one checkout request with the same idempotency key make one order and one payment intent`, async () => {
  const held = await officeOf(0).held(match);
  const key = newKey();
  const answers = await sendCopies((index) => officeOf(index).checkOut(held, { key }));
  report('one checkout, many copies', tally(answers));
  expectOneEffect(answers, await officeOf(1).checkOut(held, { key }), 201);
  expect(await count('orders', 'reservation_id', held.id)).toBe(1);
  expect(await count('sandbox_intents', 'order_id', answers.find(({ status }) => status === 201)?.json.order_id)).toBe(1);
});

test(`${COPIES} copies of one request to create a match, with the same idempotency key, make one match`, async () => {
  const key = newKey();
  const venue = `Stadium ${randomUUID()}`;
  const body = {
    home: 'A',
    away: 'B',
    venue,
    kickoff_at: '2027-06-01T18:00:00Z',
    currency: 'EUR',
    max_tickets_per_fan: 4,
    queue_required: false,
    sectors: [seated('East A')],
  };
  const send = (index: number) => officeOf(index).monolith.call('POST', '/api/v1/ops/matches', { ...ops, key, body });
  const answers = await sendCopies(send);
  expectOneEffect(answers, await send(1), 201);
  expect(await count('matches', 'venue', venue)).toBe(1);
});

test('one idempotency key used by several fans and for different requests makes one reservation; all other requests are refused', async () => {
  const [as, key] = [randomUUID(), newKey()];
  const answers = await sendCopies((index) =>
    officeOf(index).hold(match, { as: index % 3 === 0 ? randomUUID() : as, key, quantity: index % 3 === 1 ? 1 : 2 }),
  );
  report('one key, different requests', tally(answers));
  expect(new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.id)).size).toBe(1);
  const codes = new Set(answers.filter(({ status }) => status !== 201).map(({ json }) => json.code));
  for (const code of codes) expect(['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_USE']).toContain(code);
});

test('negative control: copies of one hold request without an idempotency key make 10 reservations, as many as the ticket limit allows', async () => {
  const as = randomUUID();
  const holdSeats = officeOf(0).monolith.get(HoldSeats);
  const request = { matchId: match.id, userId: as, sessionToken: undefined, sectorId: match.sectors[0]?.id ?? '', quantity: 2 };
  await Promise.allSettled(Array.from({ length: COPIES }, () => holdSeats.execute(request)));
  expect(await count('reservations', 'user_id', as)).toBe(10);
});

test('after all requests with the same key the match breaks no invariant', async () => {
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});
