import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hoursFromNow, partner, QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
});
afterAll(() => opened.close());

/** A match with a seated sector of 5 rows with 10 seats and a standing sector of 20 places. */
const onSale = (): Promise<MatchOnSale> =>
  putOnSale(opened.office.monolith, {
    sectors: [seated('East A'), { name: 'Terrace', kind: 'standing', price_cents: 1200, capacity: 20 }],
  });
const places = (match: MatchOnSale, quantity: number, sector = 0) => [{ sector_id: match.sectors[sector]?.id, quantity }];
const faults = async (match: MatchOnSale): Promise<unknown[]> =>
  (await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).invariants.flatMap(({ rows }) => rows);

describe('a new quota', () => {
  test('has its places as whole rows, and all its fields are answered', async () => {
    const match = await onSale();
    const member = randomUUID();
    const fields = {
      ...{ name: 'Away fans', kind: 'visitors', members: [member], contact_email: 'away@example.it', never_to: ['visitors'] },
      ...{ places: places(match, 20), on_return: 'public', max_per_invitation: 2, price_cents: { [match.sectors[0]!.id]: 2000 } },
      ...{ opens_at: hoursFromNow(-1), claim_until: hoursFromNow(10), return_at: hoursFromNow(20) },
    };
    const { status, json, headers } = await calls.create(match, fields);
    const { places: _places, ...settings } = fields;
    const numbers = { total: 20, free: 20, invited: 0, held: 0, sold: 0 };
    expect([status, headers.location]).toEqual([201, `/api/v1/ops/quotas/${json.id}`]);
    expect(json).toMatchObject({
      ...settings,
      ...{ match_id: match.id, parent_id: null, status: 'open', returned_at: null, places: numbers, subtree: numbers },
      by_sector: [{ sector_id: match.sectors[0]?.id, total: 20, free: 20 }],
    });
    expect(await calls.quota(json.id)).toEqual(json);
    const rows = await opened.office.rows(
      `select row_label, count(*)::int as n from seats where quota_id = $1 group by row_label order by 1`,
      [json.id],
    );
    expect(rows).toEqual([
      { row_label: '1', n: 10 },
      { row_label: '2', n: 10 },
    ]);
    expect(await faults(match)).toEqual([]);
  });

  test('takes its places off the public sale, and the seat map shows them as blocked', async () => {
    const match = await onSale();
    await calls.created(match, { places: places(match, 48) });
    expect((await opened.office.hold(match, { quantity: 3 })).json).toMatchObject({ code: 'SEATS_UNAVAILABLE', available: 2 });
    const { items } = (await calls.get(`/matches/${match.id}/sectors/${match.sectors[0]?.id}/seats`)).json;
    expect(items.filter(({ status }: { status: string }) => status === 'blocked')).toHaveLength(48);
  });

  test('of a parent takes its places from the parent, and the subtree of the parent keeps its numbers', async () => {
    const match = await onSale();
    const parent = await calls.created(match, { kind: 'federation', places: places(match, 30) });
    const child = await calls.created(match, {
      kind: 'sponsor',
      parent_id: parent,
      places: places(match, 10),
      on_return: 'parent',
    });
    const numbers = (total: number) => ({ total, free: total, invited: 0, held: 0, sold: 0 });
    expect(await calls.quota(parent)).toMatchObject({ places: numbers(20), subtree: numbers(30) });
    expect(await calls.quota(child)).toMatchObject({ parent_id: parent, places: numbers(10), subtree: numbers(10) });
    expect(await calls.ledger(match, { [parent]: 'parent', [child]: 'child' })).toEqual([
      'creation 30: public → parent',
      'creation 10: parent → child',
    ]);
    expect(await faults(match)).toEqual([]);
  });

  test('a dry run answers 200 with rows, ranges and places, and binds nothing', async () => {
    const match = await onSale();
    const { status, json } = await calls.create(match, { dry_run: true, places: places(match, 13) });
    expect([status, json.quantity, json.stranded, json.by_sector[0].seat_ids.length]).toEqual([200, 13, 0, 13]);
    expect(json.by_sector[0].rows.map(({ quantity, is_whole }: Record<string, unknown>) => [quantity, is_whole]).sort()).toEqual([
      [10, true],
      [3, false],
    ]);
    expect((await calls.get(`/ops/matches/${match.id}/quotas`)).json.items).toEqual([]);
    expect((await opened.office.seatRows(match)).blocked).toBeUndefined();
    const real = await calls.create(match, { places: places(match, 13) });
    const taken = await opened.office.rows<{ id: string }>(`select id from seats where quota_id = $1`, [real.json.id]);
    expect(taken.map(({ id }) => id).sort()).toEqual([...json.by_sector[0].seat_ids].sort());
  });

  test('the same idempotency key makes one quota, and the answer is the same', async () => {
    const match = await onSale();
    const body = { name: 'Sponsor', kind: 'sponsor', places: places(match, 4) };
    const call = { ...ops, key: newKey(), body };
    const url = `/api/v1/ops/matches/${match.id}/quotas`;
    const [first, again] = [
      await opened.office.monolith.call('POST', url, call),
      await opened.office.monolith.call('POST', url, call),
    ];
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
    expect((await calls.get(`/ops/matches/${match.id}/quotas`)).json.items).toHaveLength(1);
  });

  test('a key that met QUOTA_EXCEEDED may be sent again, and succeeds once places are free', async () => {
    const match = await onSale();
    const blocker = await calls.created(match, { places: places(match, 20, 1) });
    const call = { ...ops, key: newKey(), body: { name: 'Media', kind: 'media', places: places(match, 1, 1) } };
    const send = () => opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/quotas`, call);
    expect((await send()).json).toMatchObject({ code: 'QUOTA_EXCEEDED', sector_id: match.sectors[1]?.id, available: 0 });
    expect((await calls.move(blocker, 'public')).status).toBe(201);
    expect((await send()).status).toBe(201);
  });

  test('50,000 named places in a body of 1.9 MB are read; more than 2 MB are 413', async () => {
    const match = await onSale();
    const seat_ids = Array.from({ length: 50_000 }, () => randomUUID());
    expect((await calls.create(match, { places: [{ seat_ids }] })).json.code).toBe('NOT_FOUND');
    expect((await calls.create(match, { name: 'x'.repeat(2_200_000) })).status).toBe(413);
    const id = await calls.created(match);
    const renamed = async (length: number) => (await calls.change(id, { name: 'x'.repeat(length) })).status;
    expect([await renamed(1_900_000), await renamed(2_200_000)]).toEqual([400, 413]);
  });
});

describe('bad requests create nothing', () => {
  let match: MatchOnSale;
  let other: MatchOnSale;
  let parent: string;
  let otherQuota: string;
  let deep: string;

  beforeAll(async () => {
    [match, other] = [await onSale(), await onSale()];
    parent = await calls.created(match, { kind: 'federation', never_to: ['sponsor'], places: places(match, 30) });
    otherQuota = await calls.created(other);
    deep = parent;
    for (let depth = 2; depth <= 4; depth += 1)
      deep = await calls.created(match, { parent_id: deep, places: places(match, 10 - depth) });
  });

  const seatOf = async (of: MatchOnSale): Promise<string> => (await opened.office.seatIds(of))[0] ?? '';

  test.each<[what: string, fields: () => object | Promise<object>, expected: object]>([
    ['more places than are free', () => ({ places: places(match, 51) }), { status: 409, code: 'QUOTA_EXCEEDED', available: 20 }],
    [
      'more places than the parent has',
      () => ({ parent_id: deep, places: places(match, 7) }),
      { status: 400, code: 'VALIDATION_FAILED' },
    ],
    ['a place twice', async () => ({ places: [{ seat_ids: [await seatOf(match), await seatOf(match)] }] }), { status: 400 }],
    [
      'a place twice in two items',
      async () => ({ places: [{ seat_ids: [await seatOf(match)] }, { seat_ids: [await seatOf(match)] }] }),
      { status: 400 },
    ],
    [
      'a place of another match',
      async () => ({ places: [{ seat_ids: [await seatOf(other)] }] }),
      { status: 404, code: 'NOT_FOUND' },
    ],
    ['a sector of another match', () => ({ places: places(other, 1) }), { status: 404, code: 'NOT_FOUND' }],
    ['an unknown parent', () => ({ parent_id: randomUUID() }), { status: 404, code: 'NOT_FOUND' }],
    ['a parent of another match', () => ({ parent_id: otherQuota }), { status: 404, code: 'NOT_FOUND' }],
    ['a fifth level', () => ({ parent_id: deep, places: places(match, 1) }), { status: 400, errors: [{ path: 'parent_id' }] }],
    ['a return in the past', () => ({ return_at: hoursFromNow(-1) }), { status: 400, errors: [{ path: 'return_at' }] }],
    ['a return after kick-off', () => ({ return_at: hoursFromNow(49) }), { status: 400, errors: [{ path: 'return_at' }] }],
    [
      'claims that end before they begin',
      () => ({ opens_at: hoursFromNow(3), claim_until: hoursFromNow(2) }),
      { status: 400, errors: [{ path: 'claim_until' }] },
    ],
    [
      'a return before the end of claims',
      () => ({ claim_until: hoursFromNow(3), return_at: hoursFromNow(2) }),
      { status: 400, errors: [{ path: 'return_at' }] },
    ],
    ['a return to a parent without a parent', () => ({ on_return: 'parent' }), { status: 400, errors: [{ path: 'on_return' }] }],
    [
      'a kind that never_to of the parent names',
      () => ({ kind: 'sponsor', parent_id: parent, places: places(match, 1) }),
      { status: 409, code: 'MOVE_REFUSED', rule: 'never_to: places of "Torcida" never go to sponsor' },
    ],
    [
      'a return to a parent of a kind that never_to names',
      () => ({ parent_id: parent, places: places(match, 1), on_return: 'parent', never_to: ['federation'] }),
      { status: 400, errors: [{ path: 'on_return' }] },
    ],
    ['a price for a sector of another match', () => ({ price_cents: { [other.sectors[0]!.id]: 5 } }), { status: 400 }],
    ['no places', () => ({ places: [] }), { status: 400 }],
    ['501 items', () => ({ places: Array(501).fill({ quantity: 1 }) }), { status: 400 }],
    ['an unknown field', () => ({ places: [{ quantity: 1, row: '3' }] }), { status: 400 }],
    ['a member twice', () => ({ members: [parent, parent] }), { status: 400 }],
    ['an unknown kind', () => ({ kind: 'ultras' }), { status: 400 }],
  ])('%s', async (_what, fields, expected) => {
    const before = await calls.ledger(match);
    const { json } = await calls.create(match, await fields());
    const { errors, ...rest } = expected as { errors?: object[] };
    expect(json).toMatchObject({
      ...rest,
      ...(errors ? { errors: errors.map((error) => expect.objectContaining(error) as unknown) } : {}),
    });
    expect(await calls.ledger(match)).toEqual(before);
    expect(await faults(match)).toEqual([]);
  });

  test('a quota of an unknown match, of a cancelled match and of a match that has begun', async () => {
    const unknown = { id: randomUUID(), sectors: match.sectors };
    expect((await calls.create(unknown)).json.code).toBe('NOT_FOUND');
    const gone = await onSale();
    await opened.office.rows(`update matches set kickoff_at = now() - interval '1 minute' where id = $1`, [gone.id]);
    expect((await calls.create(gone)).json.code).toBe('INVALID_STATE');
    const cancelled = await onSale();
    await opened.office.monolith.call('POST', `/api/v1/ops/matches/${cancelled.id}/cancel`, { ...ops, body: { reason: 'rain' } });
    expect((await calls.create(cancelled)).json).toMatchObject({
      code: 'INVALID_STATE',
      cancelled_at: expect.any(String) as string,
    });
  });
});

describe('changes of a quota', () => {
  test('given settings change, omitted ones stay, and null clears a deadline', async () => {
    const match = await onSale();
    const id = await calls.created(match, { return_at: hoursFromNow(20), contact_email: 'a@example.hr' });
    const before = await calls.quota(id);
    const claim_until = hoursFromNow(5);
    const { status, json } = await calls.change(id, { name: 'Armada', claim_until, return_at: null, never_to: ['visitors'] });
    expect([status, json]).toEqual([200, { ...before, name: 'Armada', claim_until, return_at: null, never_to: ['visitors'] }]);
    expect(await calls.quota(id)).toEqual(json);
  });

  test.each<[string, object, number]>([
    ['nothing', {}, 400],
    ['its kind', { kind: 'club' }, 400],
    ['its places', { places: [{ quantity: 1 }] }, 400],
    ['a return in the past', { return_at: hoursFromNow(-1) }, 400],
    ['a return to a parent that it does not have', { on_return: 'parent' }, 400],
    ['a name of null', { name: null }, 400],
  ])('%s cannot be changed', async (_what, change, status) => {
    const match = await onSale();
    const id = await calls.created(match);
    const before = await calls.quota(id);
    expect((await calls.change(id, change)).status).toBe(status);
    expect(await calls.quota(id)).toEqual(before);
  });

  test('an unknown quota is 404', async () => {
    expect((await calls.change(randomUUID(), { name: 'x' })).json.code).toBe('NOT_FOUND');
    expect((await calls.get(`/ops/quotas/${randomUUID()}`)).json.code).toBe('NOT_FOUND');
  });
});

describe('partners', () => {
  test('see their quotas and the descendants of these; the quotas of others are 404', async () => {
    const match = await onSale();
    const [ana, barbara] = [randomUUID(), randomUUID()];
    const own = await calls.created(match, { kind: 'club', members: [ana], places: places(match, 20) });
    const child = await calls.created(match, { parent_id: own, members: [barbara], places: places(match, 5) });
    const others = await calls.created(match, { kind: 'media' });
    const idsOf = async (user: string): Promise<string[]> =>
      (await calls.get('/quotas?limit=100', partner(user))).json.items.map(({ id }: { id: string }) => id);
    expect([await idsOf(ana), await idsOf(barbara), await idsOf(randomUUID())]).toEqual([[own, child], [child], []]);
    expect((await calls.get(`/quotas/${child}`, partner(ana))).json).toEqual(await calls.quota(child));
    for (const foreign of [own, others, randomUUID()])
      expect((await calls.get(`/quotas/${foreign}`, partner(barbara))).json.code).toBe('NOT_FOUND');
    expect((await calls.get(`/quotas/${others}`)).status).toBe(200);
    expect((await calls.get(`/ops/quotas/${own}`, partner(ana))).status).toBe(403);
    expect((await calls.get('/quotas', { as: ana, headers: { 'x-mock-roles': '' } })).status).toBe(403);
  });
});

test('the list of quotas has pages, parents come before their children', async () => {
  const match = await onSale();
  const parent = await calls.created(match, { places: places(match, 10) });
  const child = await calls.created(match, { parent_id: parent });
  const third = await calls.created(match);
  const first = (await calls.get(`/ops/matches/${match.id}/quotas?limit=2`)).json;
  const second = (await calls.get(`/ops/matches/${match.id}/quotas?limit=2&cursor=${first.next_cursor}`)).json;
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual([parent, child, third]);
  expect(second.next_cursor).toBeNull();
  expect((await calls.get(`/ops/matches/${randomUUID()}/quotas`)).json.code).toBe('NOT_FOUND');
});

test('the public allocation sums places by kind, agrees with the report, and has an ETag', async () => {
  const match = await onSale();
  await calls.created(match, { kind: 'visitors', places: places(match, 10) });
  const second = await calls.created(match, { kind: 'visitors', places: places(match, 5, 1) });
  await calls.created(match, { kind: 'club' });
  await opened.office.held(match, { quantity: 2 });
  expect((await calls.move(second, 'public', { places: [{ quantity: 3 }] })).status).toBe(201);
  const { json, headers } = await calls.get(`/matches/${match.id}/allocation`);
  expect(json).toEqual({
    capacity: 70,
    public: { total: 54, available: 52, held: 2, sold: 0 },
    quotas: [
      { kind: 'club', total: 4, sold: 0, returned: 0 },
      { kind: 'visitors', total: 12, sold: 0, returned: 3 },
    ],
  });
  const report = (await calls.get(`/ops/matches/${match.id}/report`)).json;
  expect(report).toMatchObject({ capacity: 70, available: 52, held: 2, sold: 0, blocked: 16 });
  const known = { as: ops.as, headers: { 'x-mock-roles': 'ops', 'if-none-match': headers.etag ?? '' } };
  expect((await calls.get(`/matches/${match.id}/allocation`, known)).status).toBe(304);
  expect((await calls.get(`/matches/${randomUUID()}/allocation`)).json.code).toBe('NOT_FOUND');
});

test('the list of policies has each file of `policies/` with its title and source; every one can be checked', async () => {
  const { json } = await calls.get('/ops/quota-policies');
  expect(json.items.map(({ name }: { name: string }) => name)).toEqual([
    'uefa-conference-league-2023-24',
    'uefa-womens-champions-league-2025-26',
  ]);
  const match = await onSale();
  for (const item of json.items) {
    const body = { policy: item.name };
    const call = { ...ops, body };
    const answer = await opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/quotas/check`, call);
    expect([answer.status, answer.json.policy]).toEqual([200, item]);
  }
  expect((await calls.get('/ops/quota-policies', { as: randomUUID(), headers: { 'x-mock-roles': 'partner' } })).status).toBe(403);
});

test('a check names every breach of a policy; an unknown one is 404', async () => {
  const match = await onSale();
  const visitors = await calls.created(match, { kind: 'visitors', places: places(match, 4, 1), return_at: hoursFromNow(30) });
  const check = (policy: unknown) =>
    opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/quotas/check`, { ...ops, body: { policy } });
  const { status, json } = await check('uefa-conference-league-2023-24');
  expect([status, json.ok]).toEqual([200, false]);
  const broken = json.rules.filter(({ ok }: { ok: boolean }) => !ok);
  expect(broken.map(({ id, article }: Record<string, string>) => `${id} ${article}`)).toEqual([
    'segregated Article 38',
    'top-category Article 38',
    'return-in-time Article 38',
    'not-back-to-visitors Article 38',
  ]);
  expect(broken[0].breaches).toEqual([{ quota_id: visitors, message: '16 places of others are in sector Terrace' }]);
  expect((await check('no-such-policy')).json.code).toBe('NOT_FOUND');
  expect((await check('../package')).json.code).toBe('VALIDATION_FAILED');
});

test('a check finds places that left the visitors and came back to other visitors', async () => {
  const match = await onSale();
  const visitors = await calls.created(match, { kind: 'visitors', never_to: ['visitors'], places: places(match, 20, 1) });
  expect((await calls.move(visitors, 'public', { places: [{ quantity: 5 }] })).status).toBe(201);
  const again = await calls.created(match, { kind: 'visitors', never_to: ['visitors'], places: places(match, 2, 1) });
  const body = { policy: 'uefa-conference-league-2023-24' };
  const { json } = await opened.office.monolith.call('POST', `/api/v1/ops/matches/${match.id}/quotas/check`, { ...ops, body });
  expect(json.rules.find(({ id }: { id: string }) => id === 'not-back-to-visitors').breaches).toEqual([
    { quota_id: again, message: 'has 2 places that left the quotas of visitors' },
  ]);
});
