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

test(`two concurrent checkouts in one turn, ${TURNS} times: one checkout creates the order, and the other checkout is 409 with the id of this order`, async () => {
  const [officeA, officeB] = replicas.offices;
  const before = await replicas.retries();
  const rounds = await Promise.all(
    Array.from({ length: TURNS }, async () => {
      const as = randomUUID();
      const turn = await grantTurn(officeA.monolith, match.id, as);
      const [first, second] = [await officeA.held(match, { as, turn }), await officeB.held(match, { as, turn })];
      return Promise.all([officeA.checkOut(first), officeB.checkOut(second)]);
    }),
  );
  report('two checkouts in one turn', { ...tally(rounds.flat()), retries: (await replicas.retries()) - before });
  for (const answers of rounds) {
    const created = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect([created.length, refused.length]).toEqual([1, 1]);
    expect([refused[0]?.json.code, refused[0]?.json.order_id]).toEqual(['INVALID_STATE', created[0]?.json.order_id]);
  }
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});

test('a fan whose order is paid while the fan holds and checks out more seats in the same turn gets one order, and no hold remains', async () => {
  const [officeA, officeB] = replicas.offices;
  const rounds = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const as = randomUUID();
      const turn = await grantTurn(officeA.monolith, match.id, as);
      const ordered = await officeA.ordered(await officeA.held(match, { as, turn }));
      const secondHold = await officeB.held(match, { as, turn });
      const [settled, lateCheckout, thirdHold] = await Promise.all([
        officeA.settle(officeA.report(ordered)),
        officeB.checkOut(secondHold),
        officeB.hold(match, { as, turn }),
      ]);
      const alive = await officeA.rows<{ status: string }>(
        `select status from reservations where user_id = $1 and status in ('held', 'ordered') and expires_at > now()`,
        [as],
      );
      return {
        settled,
        lateCheckout: lateCheckout.json.code,
        thirdHold: thirdHold.status === 201 ? 'held before' : thirdHold.json.code,
        alive: alive.length,
      };
    }),
  );
  report('paid during another hold', {
    third_hold: [...new Set(rounds.map(({ thirdHold }) => thirdHold))],
    late_checkout: [...new Set(rounds.map(({ lateCheckout }) => lateCheckout))],
  });
  for (const { settled, lateCheckout, alive } of rounds)
    expect([settled, lateCheckout, alive]).toEqual(['completed', 'INVALID_STATE', 0]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
});
