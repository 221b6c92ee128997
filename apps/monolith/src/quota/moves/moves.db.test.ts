import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { QuotaCalls, secondOperator } from '../testing/quota-calls.ts';
import { QuotaDeadlines } from './quota-deadlines.schedule.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
});
afterAll(() => opened.close());

const onSale = (): Promise<MatchOnSale> => putOnSale(opened.office.monolith, { sectors: [seated('East A'), seated('East B')] });
const faults = async (match: MatchOnSale): Promise<unknown[]> =>
  (await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).invariants.flatMap(({ rows }) => rows);
const freeOf = async (quotaId: string): Promise<number[]> => {
  const { total, free, held } = (await calls.quota(quotaId)).places;
  return [total, free, held];
};

describe('a move', () => {
  test('a move to another quota and a move to the public are both in the ledger, and places of the public are for sale at once', async () => {
    const match = await onSale();
    const from = await calls.created(match, { places: [{ sector_id: match.sectors[0]?.id, quantity: 50 }] });
    const to = await calls.created(match, { kind: 'club', places: [{ sector_id: match.sectors[1]?.id, quantity: 10 }] });
    const first = await calls.move(from, to, { places: [{ quantity: 10 }] });
    expect([first.status, first.headers.location]).toEqual([201, `/api/v1/ops/matches/${match.id}/moves`]);
    expect(first.json).toMatchObject({
      ...{ kind: 'move', status: 'done', actor: ops.as, approved_by: null, from, to, quantity: 10 },
      ...{ reason: 'asked for by phone', rule: null, expires_at: null },
    });
    expect((await opened.office.hold(match, { quantity: 1 })).json.code).toBe('SOLD_OUT');
    expect((await calls.move(from, 'public', { places: [{ quantity: 3 }] })).json).toMatchObject({ to: 'public', quantity: 3 });
    expect((await opened.office.hold(match, { quantity: 3 })).status).toBe(201);
    expect([await freeOf(from), await freeOf(to)]).toEqual([
      [37, 37, 0],
      [20, 20, 0],
    ]);
    expect(await calls.ledger(match, { [from]: 'from', [to]: 'to' })).toEqual([
      'creation 50: public → from',
      'creation 10: public → to',
      'move 10: from → to',
      'move 3: from → public',
    ]);
    expect(await faults(match)).toEqual([]);
  });

  test('only free places move: with sold ones in the quota the rest is QUOTA_EXCEEDED', async () => {
    const match = await onSale();
    const from = await calls.created(match);
    await calls.sell(from, 3);
    expect((await calls.move(from, 'public')).json).toMatchObject({ status: 409, code: 'QUOTA_EXCEEDED', available: 1 });
    const sold = await opened.office.rows<{ id: string }>(`select id from seats where quota_id = $1 and status = 'sold'`, [from]);
    const named = await calls.move(from, 'public', { places: [{ seat_ids: [sold[0]?.id] }] });
    expect(named.json).toMatchObject({ code: 'QUOTA_EXCEEDED', available: 1, seat_ids: [sold[0]?.id] });
  });

  test('a repeated key moves once', async () => {
    const match = await onSale();
    const from = await calls.created(match);
    const call = { ...ops, key: newKey(), body: { to: 'public', places: [{ quantity: 1 }], reason: 'x' } };
    const answers = [];
    for (let time = 0; time < 2; time += 1)
      answers.push(await opened.office.monolith.call('POST', `/api/v1/ops/quotas/${from}/moves`, call));
    expect([answers[1]?.text, await freeOf(from)]).toEqual([answers[0]?.text, [3, 3, 0]]);
  });

  test.each<[string, (ids: { own: string; other: string }) => [string, string, object], string]>([
    ['of an unknown quota', () => [randomUUID(), 'public', {}], 'NOT_FOUND'],
    ['to an unknown quota', ({ own }) => [own, randomUUID(), {}], 'NOT_FOUND'],
    ['to a quota of another match', ({ own, other }) => [own, other, {}], 'NOT_FOUND'],
    ['to itself', ({ own }) => [own, own, {}], 'VALIDATION_FAILED'],
    ['to something else', ({ own }) => [own, 'everybody', {}], 'VALIDATION_FAILED'],
    ['without a reason', ({ own }) => [own, 'public', { reason: '' }], 'VALIDATION_FAILED'],
    ['of no places', ({ own }) => [own, 'public', { places: [] }], 'VALIDATION_FAILED'],
    ['of an unknown place', ({ own }) => [own, 'public', { places: [{ seat_ids: [randomUUID()] }] }], 'NOT_FOUND'],
    ['with an unknown field', ({ own }) => [own, 'public', { force: true }], 'VALIDATION_FAILED'],
  ])('%s is refused and moves nothing', async (_what, request, code) => {
    const match = await onSale();
    const [own, other] = [await calls.created(match), await calls.created(await onSale())];
    expect((await calls.move(...request({ own, other }))).json.code).toBe(code);
    expect(await freeOf(own)).toEqual([4, 4, 0]);
  });
});

describe('a move into a kind that never_to names', () => {
  const refused = async (): Promise<{ match: MatchOnSale; from: string; to: string }> => {
    const match = await onSale();
    const root = await calls.created(match, { kind: 'visitors', name: 'Away', never_to: ['visitors'] });
    const from = await calls.created(match, { parent_id: root, kind: 'fan_group' });
    return { match, from, to: await calls.created(match, { kind: 'visitors', places: [{ quantity: 5 }] }) };
  };
  const pending = async () => {
    const { match, from, to } = await refused();
    const asked = await calls.move(from, to, { override: true });
    if (asked.status !== 202) throw new Error(`not pending: ${asked.text}`);
    return { match, from, to, moveId: asked.json.id as string, asked };
  };

  test('is MOVE_REFUSED with the rule, also if an ancestor has it, and nothing moves', async () => {
    const { match, from, to } = await refused();
    const before = await calls.ledger(match);
    const { json } = await calls.move(from, to);
    expect(json).toMatchObject({ status: 409, code: 'MOVE_REFUSED', rule: 'never_to: places of "Away" never go to visitors' });
    expect([await calls.ledger(match), await freeOf(from)]).toEqual([before, [4, 4, 0]]);
  });

  test('with override it is 202: the places are bound, and nobody can move them', async () => {
    const { match, from, to, moveId, asked } = await pending();
    expect(asked.json).toMatchObject({
      status: 'pending',
      from,
      to,
      quantity: 2,
      rule: expect.stringContaining('never_to') as string,
    });
    expect(new Date(asked.json.expires_at).getTime() - new Date(asked.json.at).getTime()).toBe(24 * 3_600_000);
    expect(await freeOf(from)).toEqual([4, 2, 2]);
    expect((await calls.move(from, 'public', { places: [{ quantity: 3 }] })).json).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      available: 2,
    });
    const list = async (status: string): Promise<string[]> =>
      (await calls.get(`/ops/matches/${match.id}/moves?status=${status}`)).json.items.map(({ id }: { id: string }) => id);
    expect([await list('pending'), (await list('done')).includes(moveId)]).toEqual([[moveId], false]);
    expect(await faults(match)).toEqual([]);
  });

  test('the operator who asked can neither approve nor reject; another one approves, and the ledger names both', async () => {
    const { match, from, to, moveId } = await pending();
    for (const decision of ['approve', 'reject'] as const)
      expect((await calls.decide(moveId, decision, ops)).json).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    const { status, json } = await calls.decide(moveId, 'approve');
    expect([status, json]).toMatchObject([200, { id: moveId, status: 'done', actor: ops.as, approved_by: secondOperator.as }]);
    const { items } = (await calls.get(`/ops/matches/${match.id}/moves`)).json;
    expect(items.at(-1)).toEqual(json);
    expect([await freeOf(from), await freeOf(to)]).toEqual([
      [2, 2, 0],
      [7, 7, 0],
    ]);
    for (const decision of ['approve', 'reject'] as const)
      expect((await calls.decide(moveId, decision)).json.code).toBe('INVALID_STATE');
    expect(await faults(match)).toEqual([]);
  });

  test('a rejected one frees its places and moves nothing', async () => {
    const { match, from, moveId } = await pending();
    const before = await calls.ledger(match);
    expect((await calls.decide(moveId, 'reject')).json).toMatchObject({ id: moveId, status: 'rejected', expires_at: null });
    expect([await freeOf(from), await calls.ledger(match)]).toEqual([[4, 4, 0], before]);
    expect((await calls.decide(moveId, 'approve')).json.code).toBe('INVALID_STATE');
    expect(await faults(match)).toEqual([]);
  });

  test('after 24 hours it cannot be approved, and the task frees its places', async () => {
    const { match, from, moveId } = await pending();
    const age = `update quota_move_requests set expires_at = now() - interval '1 second' where id = $1`;
    await opened.office.rows(age, [moveId]);
    expect((await calls.decide(moveId, 'approve')).json.code).toBe('INVALID_STATE');
    expect(await freeOf(from)).toEqual([4, 2, 2]);
    expect(await opened.office.monolith.get(QuotaDeadlines).runOnce()).toBe(1);
    expect(await freeOf(from)).toEqual([4, 4, 0]);
    expect(await faults(match)).toEqual([]);
  });

  test('an unknown move is 404; an override of a move that no rule refuses moves at once', async () => {
    expect((await calls.decide(randomUUID(), 'approve')).json.code).toBe('NOT_FOUND');
    const match = await onSale();
    const from = await calls.created(match);
    expect((await calls.move(from, 'public', { override: true })).json).toMatchObject({ status: 'done', rule: null });
  });

  test('it cannot be approved once its target has returned its places', async () => {
    const { to, moveId, from } = await pending();
    await calls.setReturnDue([to]);
    await opened.office.monolith.get(QuotaDeadlines).runOnce();
    expect((await calls.decide(moveId, 'approve')).json.code).toBe('INVALID_STATE');
    expect((await calls.move(from, to)).json.code).toBe('INVALID_STATE');
  });
});

test('the ledger has pages, oldest row first', async () => {
  const match = await onSale();
  const from = await calls.created(match);
  await calls.move(from, 'public', { places: [{ quantity: 1 }] });
  await calls.move(from, 'public', { places: [{ quantity: 1 }] });
  const all = (await calls.get(`/ops/matches/${match.id}/moves`)).json.items;
  const first = (await calls.get(`/ops/matches/${match.id}/moves?limit=2`)).json;
  const second = (await calls.get(`/ops/matches/${match.id}/moves?limit=2&cursor=${first.next_cursor}`)).json;
  expect([...first.items, ...second.items]).toEqual(all);
  expect([all.length, second.next_cursor]).toEqual([3, null]);
  expect((await calls.get(`/ops/matches/${randomUUID()}/moves`)).json.code).toBe('NOT_FOUND');
});

test.each([
  `update quota_moves set reason = 'nothing happened'`,
  `delete from quota_moves`,
  `update quota_moves set quantity = quantity`,
])('the database refuses: %s', async (statement) => {
  const match = await onSale();
  await calls.created(match);
  const before = await calls.ledger(match);
  await expect(opened.office.rows(statement)).rejects.toMatchObject({ driverError: { code: '23001' } });
  expect(await calls.ledger(match)).toEqual(before);
});
