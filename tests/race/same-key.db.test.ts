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

const officeOf = (turn: number) => replicas.offices[turn % 2 === 0 ? 0 : 1];
const copies = (send: (turn: number) => Promise<TestAnswer>) =>
  Promise.all(Array.from({ length: COPIES }, (_, turn) => send(turn)));
const count = async (table: string, column: string, value: string) =>
  (await replicas.dataSource.query<{ n: number }[]>(`select count(*)::int as n from ${table} where ${column} = $1`, [value]))[0]
    ?.n;

/** One did it; the others were told to wait or got its answer, and whoever asks afterwards gets it too. */
function expectOneEffect(answers: readonly TestAnswer[], later: TestAnswer, success: number): void {
  const done = answers.filter(({ status }) => status === success);
  expect(done.length).toBeGreaterThan(0);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  expect(done.filter(({ headers }) => headers['idempotency-replayed'] !== 'true')).toHaveLength(1);
  for (const { json, status } of answers) if (status !== success) expect(json.code).toBe('IDEMPOTENCY_KEY_IN_USE');
  expect([later.status, later.text, later.headers['idempotency-replayed']]).toEqual([success, done[0]?.text, 'true']);
}

test(`${COPIES} copies of one hold over two replicas: one reservation`, async () => {
  const [as, key] = [randomUUID(), newKey()];
  const answers = await copies((turn) => officeOf(turn).hold(match, { as, key, quantity: 2 }));
  report('one hold, many copies', tally(answers));
  expectOneEffect(answers, await officeOf(1).hold(match, { as, key, quantity: 2 }), 201);
  expect(await count('reservations', 'user_id', as)).toBe(1);
});

test('the same while Redis forgets everything again and again: the row decides', async () => {
  const [as, key] = [randomUUID(), newKey()];
  let going = true;
  const forgetting = (async () => {
    while (going) {
      await officeOf(0).monolith.resources.redis.flushdb();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  const answers = await copies((turn) => officeOf(turn).hold(match, { as, key, quantity: 2 }));
  going = false;
  await forgetting;
  await officeOf(0).monolith.resources.redis.flushdb();
  report('and Redis forgets', tally(answers));
  expectOneEffect(answers, await officeOf(0).hold(match, { as, key, quantity: 2 }), 201);
  expect(await count('reservations', 'user_id', as)).toBe(1);
});

test(`${COPIES} copies of one checkout: one order, one intent`, async () => {
  const held = await officeOf(0).held(match);
  const key = newKey();
  const answers = await copies((turn) => officeOf(turn).checkOut(held, { key }));
  report('one checkout, many copies', tally(answers));
  expectOneEffect(answers, await officeOf(1).checkOut(held, { key }), 201);
  expect(await count('orders', 'reservation_id', held.id)).toBe(1);
  expect(await count('sandbox_intents', 'order_id', answers.find(({ status }) => status === 201)?.json.order_id)).toBe(1);
});

test('copies of one new match: one match', async () => {
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
  const send = (turn: number) => officeOf(turn).monolith.call('POST', '/api/v1/ops/matches', { ...ops, key, body });
  const answers = await copies(send);
  expectOneEffect(answers, await send(1), 201);
  expect(await count('matches', 'venue', venue)).toBe(1);
});

test('the key of another fan, or of another wish, is nobody’s way to that seat', async () => {
  const [as, key] = [randomUUID(), newKey()];
  const answers = await copies((turn) =>
    officeOf(turn).hold(match, { as: turn % 3 === 0 ? randomUUID() : as, key, quantity: turn % 3 === 1 ? 1 : 2 }),
  );
  report('one key, many wishes', tally(answers));
  expect(new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.id)).size).toBe(1);
  const codes = new Set(answers.filter(({ status }) => status !== 201).map(({ json }) => json.code));
  for (const code of codes) expect(['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_IN_USE']).toContain(code);
});

test('the control: the same wishes without a key are as many reservations as the limit allows', async () => {
  const as = randomUUID();
  const holdSeats = officeOf(0).monolith.get(HoldSeats);
  const wish = { matchId: match.id, userId: as, sessionToken: undefined, sectorId: match.sectors[0]?.id ?? '', quantity: 2 };
  await Promise.allSettled(Array.from({ length: COPIES }, () => holdSeats.execute(wish)));
  expect(await count('reservations', 'user_id', as)).toBe(10);
});

test('after all of that the tables verify clean', async () => {
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});
