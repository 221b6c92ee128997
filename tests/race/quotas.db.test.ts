import { ReturnPlaces } from '../../apps/monolith/src/quota/moves/return-places.ts';
import { partner, QuotaCalls, secondOperator } from '../../apps/monolith/src/quota/testing/quota-calls.ts';
import { runReadCommitted } from '#platform/postgres/read-committed';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { buyersOf, faultsOf, openReplicas, report, tally, timed, type Replicas } from './concurrent-buyers.ts';

let replicas: Replicas;
let operators: readonly [QuotaCalls, QuotaCalls];

beforeAll(async () => {
  replicas = await openReplicas();
  operators = [new QuotaCalls(replicas.offices[0]), new QuotaCalls(replicas.offices[1])];
});
afterAll(() => replicas.close());

const operatorOf = (index: number): QuotaCalls => operators[index % 2 === 0 ? 0 : 1];
const onSale = (rows = 10, seats = 20): Promise<MatchOnSale> =>
  putOnSale(replicas.offices[0].monolith, { sectors: [seated('East A', rows, seats)] });
const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const statuses = (answers: readonly TestAnswer[]): number[] => answers.map(({ status }) => status).sort();
const ofSector = (match: MatchOnSale, quantity: number) => [{ sector_id: match.sectors[0]?.id, quantity }];

/** The places of the returns in the ledger of a match. */
const returned = async (match: MatchOnSale): Promise<number[]> =>
  (await operators[0].get(`/ops/matches/${match.id}/moves?limit=100`)).json.items
    .filter(({ kind }: { kind: string }) => kind === 'return')
    .map(({ quantity }: { quantity: number }) => quantity);

test('two operators move all places of a quota to two others: one succeeds, the other gets QUOTA_EXCEEDED', async () => {
  for (let round = 0; round < 5; round += 1) {
    const match = await onSale();
    const from = await operators[0].created(match, { places: ofSector(match, 50) });
    const targets = [await operators[0].created(match, { kind: 'club' }), await operators[0].created(match, { kind: 'media' })];
    const answers = await times(2, (index) => operatorOf(index).move(from, targets[index]!, { places: [{ quantity: 50 }] }));
    expect(statuses(answers)).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({ code: 'QUOTA_EXCEEDED', available: 0 });
    expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  }
}, 60_000);

test('many moves of single places at once move exactly as many places as there are', async () => {
  const match = await onSale();
  const from = await operators[0].created(match, { places: ofSector(match, 10) });
  const answers = await times(16, (index) => operatorOf(index).move(from, 'public', { places: [{ quantity: 1 }] }));
  report('sixteen moves of ten places', tally(answers));
  const moved = answers.filter(({ status }) => status === 201).length;
  expect(moved).toBeLessThanOrEqual(10);
  expect((await operators[0].quota(from)).places.total).toBe(10 - moved);
  expect(answers.filter(({ status }) => ![201, 409, 503].includes(status))).toEqual([]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('quotas are created while fans hold seats of the same sector: no place has two owners, and nothing is answered with 500', async () => {
  const match = await onSale(20, 20);
  const [created, holds] = await Promise.all([
    times(8, (index) => operatorOf(index).create(match, { places: ofSector(match, 20) })),
    times(120, (index) => replicas.offices[index % 2 === 0 ? 0 : 1].hold(match, { quantity: 2 })),
  ]);
  report('eight quotas of 20 places and 120 holds of 2', { quotas: tally(created), holds: tally(holds) });
  expect([...created, ...holds].filter(({ status }) => status === 500)).toEqual([]);
  const inQuotas = created.filter(({ status }) => status === 201).length * 20;
  const held = holds.filter(({ status }) => status === 201).length * 2;
  const rows = await replicas.offices[0].seatRows(match);
  expect([rows.blocked ?? 0, rows.held ?? 0]).toEqual([inQuotas, held]);
  expect(inQuotas).toBeGreaterThan(0);
  expect(held).toBeGreaterThan(0);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

test('quotas of 8,000 places are created in sectors that are being sold: each in one transaction within 2 s, and no buyer fails', async () => {
  const match = await putOnSale(replicas.offices[0].monolith, {
    sectors: ['North', 'East', 'South', 'West'].map((name) => seated(name, 100, 60)),
  });
  const quantity = 2000;
  const places = match.sectors.map(({ id }) => ({ sector_id: id, quantity }));
  const buyers = buyersOf(replicas, match, [0, 1, 2, 3]);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const creations = [];
  for (const index of [0, 1]) creations.push(await timed(() => operatorOf(index).create(match, { places })));
  const { answers } = await buyers.stop();
  const created = creations.map(({ result }) => result);
  const times = creations.map(({ ms }) => Math.round(ms));
  report('two quotas of 8,000 places', { ms: times, quotas: tally(created), holds: tally(answers) });
  expect([statuses(created), tally(answers)]).toEqual([[201, 201], { 201: answers.length }]);
  for (const { json } of created)
    expect(json.by_sector.map(({ total }: { total: number }) => total)).toEqual([quantity, quantity, quantity, quantity]);
  expect(Math.min(...times)).toBeLessThan(2000);
  const rows = await replicas.offices[0].seatRows(match);
  expect([rows.blocked, rows.held]).toEqual([2 * 4 * quantity, answers.length]);
  expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
}, 60_000);

describe('the return of a quota by several processes at once', () => {
  const dueQuota = async (): Promise<{ match: MatchOnSale; id: string }> => {
    const match = await onSale();
    const id = await operators[0].created(match, { places: ofSector(match, 40) });
    await operators[0].setReturnDue([id]);
    return { match, id };
  };
  const tasks = (): ReturnPlaces[] => replicas.offices.map(({ monolith }) => monolith.get(ReturnPlaces));

  test('happens once: one row in the ledger', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { match, id } = await dueQuota();
      const done = await Promise.all([...tasks(), ...tasks()].map((task) => task.returnDue()));
      expect([done.reduce((sum, n) => sum + n, 0), await returned(match)]).toEqual([1, [40]]);
      expect((await operators[0].quota(id)).status).toBe('returned');
      expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
    }
  }, 60_000);

  test('of 20 quotas of 400 places by two processes takes at most 2 s', async () => {
    const match = await onSale(100, 100);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push(await operators[0].created(match, { places: ofSector(match, 400) }));
    await operators[0].setReturnDue(ids);
    const before = await replicas.retries();
    const { result, ms } = await timed(() => Promise.all(tasks().map((task) => task.returnDue())));
    report('20 quotas by two processes', { ms: Math.round(ms), returned: result, retries: (await replicas.retries()) - before });
    // A process that finds the lock taken leaves the rest to the other one, or to its own next run a second later.
    for (const task of tasks()) await task.returnDue();
    expect([await returned(match), ms < 2000]).toEqual([Array(20).fill(400), true]);
    expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  }, 60_000);

  test('negative control: processes that read that it is due and write without a lock return it twice, and verify reports it', async () => {
    const { match, id } = await dueQuota();
    let readers = 0;
    let bothHaveRead: () => void = () => undefined;
    const afterBoth = new Promise<void>((resolve) => (bothHaveRead = resolve));
    await times(2, () =>
      runReadCommitted(replicas.dataSource, async (client) => {
        const due = await client.query<{ seatId: string }>(
          `select s.id as "seatId" from quotas q join seats s on s.quota_id = q.id where q.id = $1 and q.status = 'open'`,
          [id],
        );
        readers += 1;
        if (readers === 2) bothHaveRead();
        await afterBoth;
        const seatIds = due.rows.map(({ seatId }) => seatId);
        await client.query(`update seats set quota_id = null, status = 'available' where id = any($1::uuid[])`, [seatIds]);
        await client.query(
          `insert into quota_moves (id, match_id, kind, actor, from_quota, quantity, reason, seat_ids)
           values (gen_random_uuid(), $1, 'return', 'system', $2, cardinality($3::uuid[]), 'test', $3)`,
          [match.id, id, seatIds],
        );
      }),
    );
    expect(await returned(match)).toEqual([40, 40]);
    expect((await faultsOf(replicas.dataSource, match.id)).map(({ name }) => name)).toContain('quota-ledger');
  });
});

test('two operators approve the same pending move at once: its places move once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const match = await onSale();
    const from = await operators[0].created(match, { kind: 'visitors', never_to: ['club'], places: ofSector(match, 20) });
    const to = await operators[0].created(match, { kind: 'club' });
    const { json } = await operators[0].move(from, to, { override: true, places: [{ quantity: 10 }] });
    const third = { ...secondOperator, as: '0190a000-0000-7000-8000-00000000000c' };
    const answers = await Promise.all([
      operators[0].decide(json.id, 'approve', secondOperator),
      operators[1].decide(json.id, 'approve', third),
      operators[1].decide(json.id, 'reject', third),
    ]);
    expect(statuses(answers)).toEqual([200, 409, 409]);
    const { total } = (await operators[0].quota(to)).places;
    expect(total).toBe(answers[2]?.status === 200 ? 4 : 14);
    expect(await faultsOf(replicas.dataSource, match.id)).toEqual([]);
  }
}, 60_000);

test('a partner cannot approve', async () => {
  const match = await onSale();
  const from = await operators[0].created(match, { kind: 'visitors', never_to: ['club'] });
  const to = await operators[0].created(match, { kind: 'club' });
  const { json } = await operators[0].move(from, to, { override: true });
  expect((await operators[0].decide(json.id, 'approve', partner(secondOperator.as))).json.code).toBe('FORBIDDEN');
});
