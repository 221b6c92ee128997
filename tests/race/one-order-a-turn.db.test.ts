import { randomUUID } from 'node:crypto';
import { grantTurn, putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { faultsOf, openReplicas, report, tally, type Replicas } from './concurrent-buyers.ts';

const TURNS = 60;

let replicas: Replicas;
let match: MatchOnSale;

beforeAll(async () => {
  replicas = await openReplicas();
  match = await putOnSale(replicas.offices[0].monolith, { queue_required: true, sectors: [seated('East A', 20, 20)] });
});
afterAll(() => replicas.close());

test(`two orders of one turn race, ${TURNS} times: one is made, the other hears of it`, async () => {
  const [one, two] = replicas.offices;
  const before = await replicas.retries();
  const rounds = await Promise.all(
    Array.from({ length: TURNS }, async () => {
      const as = randomUUID();
      const turn = await grantTurn(one.monolith, match.id, as);
      const [first, second] = [await one.held(match, { as, turn }), await two.held(match, { as, turn })];
      return Promise.all([one.checkOut(first), two.checkOut(second)]);
    }),
  );
  report('two orders of one turn', { ...tally(rounds.flat()), retries: (await replicas.retries()) - before });
  for (const answers of rounds) {
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([made.length, refused.length]).toEqual([1, 1]);
    expect([refused[0]?.json.code, refused[0]?.json.order_id]).toEqual(['INVALID_STATE', made[0]?.json.order_id]);
  }
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('a turn whose order is paid while its fan goes on holding and checking out: one order, and nothing else is kept', async () => {
  const [one, two] = replicas.offices;
  const rounds = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const as = randomUUID();
      const turn = await grantTurn(one.monolith, match.id, as);
      const bought = await one.ordered(await one.held(match, { as, turn }));
      const other = await two.held(match, { as, turn });
      const [settled, late, more] = await Promise.all([
        one.settle(one.report(bought)),
        two.checkOut(other),
        two.hold(match, { as, turn }),
      ]);
      const alive = await one.rows<{ status: string }>(
        `select status from reservations where user_id = $1 and status in ('held', 'ordered') and expires_at > now()`,
        [as],
      );
      return { settled, late: late.json.code, more: more.status === 201 ? 'held before' : more.json.code, alive: alive.length };
    }),
  );
  report('paid while the fan goes on', {
    more: [...new Set(rounds.map(({ more }) => more))],
    late: [...new Set(rounds.map(({ late }) => late))],
  });
  for (const { settled, late, alive } of rounds) expect([settled, late, alive]).toEqual(['completed', 'INVALID_STATE', 0]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});
