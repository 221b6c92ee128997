import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { SaleWatch } from '../../operations/sale-watch.schedule.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';
import { QuotaDeadlines } from './quota-deadlines.schedule.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
});
afterAll(() => opened.close());

const onSale = (): Promise<MatchOnSale> => putOnSale(opened.office.monolith, { sectors: [seated('East A')] });
const places = (match: MatchOnSale, quantity: number) => [{ sector_id: match.sectors[0]?.id, quantity }];
const runTask = (): Promise<number> => opened.office.monolith.get(QuotaDeadlines).runOnce();
const faults = async (match: MatchOnSale): Promise<unknown[]> =>
  (await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).invariants.flatMap(({ rows }) => rows);

test('at return_at the free places go to the public by one move, once; sold ones stay', async () => {
  const match = await onSale();
  const id = await calls.created(match, { places: places(match, 20), return_at: hoursFromNow(1) });
  await calls.sell(id, 5);
  expect(await runTask()).toBe(0);
  await calls.setReturnDue([id]);
  expect([await runTask(), await runTask()]).toEqual([1, 0]);
  const quota = await calls.quota(id);
  expect(quota).toMatchObject({ status: 'returned', places: { total: 5, free: 0, sold: 5 } });
  expect(new Date(quota.returned_at).getTime()).toBeGreaterThan(Date.now() - 60_000);
  const { items } = (await calls.get(`/ops/matches/${match.id}/moves`)).json;
  expect(items.slice(1)).toEqual([
    expect.objectContaining({ kind: 'return', actor: 'system', approved_by: null, from: id, to: 'public', quantity: 15 }),
  ]);
  expect((await calls.get(`/ops/matches/${match.id}/report`)).json).toMatchObject({ available: 45, sold: 5, blocked: 0 });
});

test('keep: the quota is returned, and its places stay', async () => {
  const match = await onSale();
  const id = await calls.created(match, { on_return: 'keep' });
  await calls.setReturnDue([id]);
  expect([await runTask(), await runTask()]).toEqual([1, 0]);
  expect(await calls.quota(id)).toMatchObject({ status: 'returned', places: { total: 4, free: 4 } });
  expect(await calls.ledger(match)).toHaveLength(1);
});

test('a child returns to its parent before the parent returns to the public, if both are due', async () => {
  const match = await onSale();
  const parent = await calls.created(match, { kind: 'federation', places: places(match, 10) });
  const child = await calls.created(match, { parent_id: parent, places: places(match, 4), on_return: 'parent' });
  await calls.setReturnDue([parent, child]);
  expect(await runTask()).toBe(2);
  expect((await calls.ledger(match, { [parent]: 'parent', [child]: 'child' })).slice(2)).toEqual([
    'return 4: child → parent',
    'return 10: parent → public',
  ]);
  expect(await faults(match)).toEqual([]);
});

test('places that become free after the return follow it: of a refund, and of a child that returns later', async () => {
  const match = await onSale();
  const parent = await calls.created(match, { kind: 'federation', places: places(match, 10) });
  const child = await calls.created(match, { parent_id: parent, places: places(match, 4), on_return: 'parent' });
  await calls.sell(parent, 2);
  await calls.setReturnDue([parent]);
  await runTask();
  // As a refund does it.
  await opened.office.rows(
    `update seats set status = 'blocked', reservation_id = null where id = (select id from seats where quota_id = $1 and status = 'sold' limit 1)`,
    [parent],
  );
  await calls.setReturnDue([child]);
  expect(await runTask()).toBe(2);
  expect(await runTask()).toBe(0);
  expect((await calls.ledger(match, { [parent]: 'parent', [child]: 'child' })).slice(2)).toEqual([
    'return 4: parent → public',
    'return 4: child → parent',
    'return 5: parent → public',
  ]);
});

test('places of a pending move stay bound at the return and follow it when the move is rejected', async () => {
  const match = await onSale();
  const from = await calls.created(match, { kind: 'visitors', never_to: ['club'] });
  const to = await calls.created(match, { kind: 'club' });
  const { json } = await calls.move(from, to, { override: true });
  await calls.setReturnDue([from]);
  await runTask();
  expect((await calls.quota(from)).places).toMatchObject({ total: 2, free: 0, held: 2 });
  await calls.decide(json.id, 'reject');
  expect(await runTask()).toBe(1);
  expect((await calls.quota(from)).places.total).toBe(0);
  expect(await faults(match)).toEqual([]);
});

test('a returned quota gets no places and no child, its return cannot change, its other settings can', async () => {
  const match = await onSale();
  const [id, other] = [await calls.created(match), await calls.created(match)];
  await calls.setReturnDue([id]);
  await runTask();
  expect((await calls.move(other, id)).json.code).toBe('INVALID_STATE');
  expect((await calls.create(match, { parent_id: id })).json.code).toBe('INVALID_STATE');
  expect((await calls.change(id, { return_at: hoursFromNow(3) })).json.code).toBe('INVALID_STATE');
  expect((await calls.change(id, { on_return: 'keep' })).json.code).toBe('INVALID_STATE');
  expect((await calls.change(id, { name: 'Old' })).status).toBe(200);
});

test('a return opens a sold-out sale again', async () => {
  const match = await onSale();
  const id = await calls.created(match, { places: places(match, 48) });
  await opened.office.held(match, { quantity: 2 });
  await opened.office.rows(`update seats set status = 'sold', expires_at = null where match_id = $1 and status = 'held'`, [
    match.id,
  ]);
  const statusAfterWatch = async (): Promise<string> => {
    // The numbers of the seat views are up to a second old, and a quiet sale is checked every 3 s.
    for (let attempt = 0; attempt < 60; attempt += 1) {
      await opened.office.monolith.get(SaleWatch).runOnce();
      const { status } = (await calls.get(`/matches/${match.id}`)).json.sale;
      if (attempt > 0 && status !== before) return status;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return before;
  };
  let before = 'open';
  expect(await statusAfterWatch()).toBe('sold_out');
  expect((await opened.office.hold(match, { quantity: 1 })).json.code).toBe('SOLD_OUT');
  before = 'sold_out';
  await calls.setReturnDue([id]);
  await runTask();
  expect(await statusAfterWatch()).toBe('open');
  expect((await opened.office.hold(match, { quantity: 2 })).status).toBe(201);
}, 30_000);

test('20 quotas of 400 places return within 2 s', async () => {
  const match = await putOnSale(opened.office.monolith, { sectors: [seated('North', 100, 100)] });
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push(await calls.created(match, { places: places(match, 400) }));
  await calls.setReturnDue(ids);
  const begunAt = performance.now();
  expect(await runTask()).toBe(20);
  const ms = Math.round(performance.now() - begunAt);
  process.stdout.write(`  return of 20 quotas with 8,000 places: ${ms} ms\n`);
  expect(ms).toBeLessThan(2000);
  expect((await calls.get(`/ops/matches/${match.id}/report`, ops)).json).toMatchObject({ available: 10_000, blocked: 0 });
}, 60_000);
