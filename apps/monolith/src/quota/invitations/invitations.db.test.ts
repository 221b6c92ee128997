import { randomUUID } from 'node:crypto';
import { verifyDatabase } from '../../cli/verify/verify-database.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey, type TestAnswer } from '../../testing/test-app.ts';
import { putOnSale, seated, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hoursFromNow, partner, QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;

beforeAll(async () => {
  opened = await openBoxOffice({ PUBLIC_URL: 'https://tickets.example.hr' });
  calls = new QuotaCalls(opened.office);
});
afterAll(() => opened.close());

/** A match with a seated sector of 5 rows with 10 seats, a standing sector of 20 places, and one for people in wheelchairs. */
const onSale = (): Promise<MatchOnSale> =>
  putOnSale(opened.office.monolith, {
    sectors: [
      seated('East A'),
      { name: 'Terrace', kind: 'standing', price_cents: 1200, capacity: 20 },
      { ...seated('Low', 1, 4), wheelchair: true },
    ],
  });
const places = (match: MatchOnSale, quantity: number, sector = 0) => [{ sector_id: match.sectors[sector]?.id, quantity }];
const faults = async (match: MatchOnSale): Promise<unknown[]> =>
  (await verifyDatabase(opened.office.monolith.dataSource, { matchId: match.id })).invariants.flatMap(({ rows }) => rows);
const guest = (fields: object = {}) => ({ email: 'ana@example.hr', quantity: 1, ...fields });
const guests = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, index) => guest({ email: `guest${index}@example.hr`, ...fields }));
const verdicts = ({ json }: TestAnswer): string[] =>
  json.items.map(({ status, code }: { status: string; code?: string }) => (code ? `${status} ${code}` : status));
/** The mails of the invitations to places of a match, oldest first. */
const mails = async (match: MatchOnSale): Promise<TestAnswer['json'][]> =>
  (
    await opened.office.rows<{ body: unknown }>(
      `select body from outbox where event = 'quota.invitation' and destination = 'email' and body->'about'->>'match_id' = $1
       order by seq`,
      [match.id],
    )
  ).map(({ body }) => body);
const counts = async (quota: string): Promise<number[]> => {
  const { total, free, invited } = (await calls.quota(quota)).places;
  return [total, free, invited];
};
/** A quota of all places of a sector of a new match. */
const quotaOf = async (quantity: number, fields: object = {}, sector = 0): Promise<{ match: MatchOnSale; quota: string }> => {
  const match = await onSale();
  return { match, quota: await calls.created(match, { places: places(match, quantity, sector), ...fields }) };
};

describe('a list of invitations', () => {
  test('binds places side by side, and each invitation is listed and mailed with its link', async () => {
    const { match, quota } = await quotaOf(20);
    const userId = randomUUID();
    const rows = [
      guest({ name: 'Ana Anić', quantity: 4, locale: 'en', note: 'board' }),
      guest({ email: 'Ivo@Example.hr', quantity: 2, user_id: userId }),
    ];
    const answer = await calls.invite(quota, rows, { list_key: 'sponsors' });
    const id: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        items: [
          { index: 0, status: 'created', id },
          { index: 1, status: 'created', id },
        ],
      },
    ]);
    const [ana, ivo] = await calls.invitations(quota);
    const [{ row, number }] = ana.seats;
    expect(ana).toEqual({
      ...{ id: answer.json.items[0].id, email: 'ana@example.hr', name: 'Ana Anić', quantity: 4, status: 'open', note: 'board' },
      ...{ claimed_at: null, user_id: null, list_key: 'sponsors', seats: expect.anything() as unknown },
      ...{ expires_at: expect.any(String) as unknown, created_at: expect.any(String) as unknown },
    });
    expect(ana.seats).toEqual([0, 1, 2, 3].map((at) => ({ seat_id: id, sector: 'East A', row, number: number + at })));
    expect(ivo).toMatchObject({ email: 'Ivo@Example.hr', name: null, user_id: userId });
    expect(ivo.seats[1].number - ivo.seats[0].number).toBe(1);
    expect(await counts(quota)).toEqual([20, 14, 6]);
    const sent = await mails(match);
    expect(sent.map(({ recipient, user_id }) => [recipient, user_id])).toEqual([
      ['ana@example.hr', undefined],
      ['Ivo@Example.hr', userId],
    ]);
    expect(sent[0].payload).toMatchObject({
      ...{ locale: 'en', quota_name: 'Torcida', tickets_count: 4 },
      claim_url: expect.stringMatching(/^https:\/\/tickets\.example\.hr\/invitation#inv_[\w-]{43}$/) as unknown,
    });
    expect(await faults(match)).toEqual([]);
  });

  test('of a partner is made for the quota of the partner and for those below it, and no other partner sees them', async () => {
    const match = await onSale();
    const [owner, stranger] = [partner(randomUUID()), partner(randomUUID())];
    const parent = await calls.created(match, { kind: 'federation', places: places(match, 30), members: [owner.as] });
    const child = await calls.created(match, {
      kind: 'club',
      parent_id: parent,
      places: places(match, 10),
      members: [stranger.as],
    });
    for (const quota of [parent, child])
      expect(verdicts(await calls.invite(quota, [guest()], { caller: owner }))).toEqual(['created']);
    expect(verdicts(await calls.invite(child, [guest()], { caller: stranger }))).toEqual(['created']);
    const [{ id }] = await calls.invitations(parent);
    const refused = [
      await calls.invite(parent, [guest()], { caller: stranger }),
      await calls.get(`/quotas/${parent}/invitations`, stranger),
      await opened.office.monolith.call('POST', `/api/v1/invitations/${id}/resend`, stranger),
      await calls.invite(randomUUID(), [guest()], { caller: owner }),
    ];
    expect(refused.map(({ status, json }) => [status, json.code])).toEqual(refused.map(() => [404, 'NOT_FOUND']));
    const fan = { as: owner.as, headers: { 'x-mock-roles': '' } };
    expect((await calls.invite(parent, [guest()], { caller: fan })).status).toBe(403);
    expect(await mails(match)).toHaveLength(3);
  });

  test('invites whom it has places for, in the order of the rows; the others are refused with QUOTA_EXCEEDED', async () => {
    const { match, quota } = await quotaOf(5);
    const rows = [2, 4, 2, 1, 1].map((quantity, index) => guest({ email: `g${index}@example.hr`, quantity }));
    const expected = ['created', 'refused QUOTA_EXCEEDED', 'created', 'created', 'refused QUOTA_EXCEEDED'];
    expect(verdicts(await calls.invite(quota, rows, { dry_run: true }))).toEqual(expected);
    expect(verdicts(await calls.invite(quota, rows))).toEqual(expected);
    expect(await counts(quota)).toEqual([5, 0, 5]);
    expect(await faults(match)).toEqual([]);
  });

  test('takes standing places of the sector that it names, and places for people in wheelchairs only if it names them', async () => {
    const match = await onSale();
    const quota = await calls.created(match, { places: [...places(match, 6, 1), ...places(match, 4, 2)] });
    const [, terrace, low] = match.sectors;
    const rows = [
      guest({ quantity: 4, sector_id: terrace?.id }),
      guest({ quantity: 3 }),
      guest({ sector_id: low?.id.toUpperCase() }),
    ];
    expect(verdicts(await calls.invite(quota, rows))).toEqual(['created', 'refused QUOTA_EXCEEDED', 'created']);
    const [standing, seat] = await calls.invitations(quota);
    expect(standing.seats.map(({ sector, row, number }: Record<string, unknown>) => [sector, row, number])).toEqual(
      Array(4).fill(['Terrace', null, null]),
    );
    expect(seat.seats).toEqual([expect.objectContaining({ sector: 'Low', row: '1' })]);
    expect(await faults(match)).toEqual([]);
  });

  test.each<[what: string, row: Record<string, unknown>, message: string]>([
    ['an address without a domain', { email: 'ana@' }, 'email: is not an e-mail address'],
    ['no address', { email: undefined }, 'email: '],
    ['a quantity of 0', { quantity: 0 }, 'quantity: must be a whole number from 1 to 20'],
    ['a quantity as text', { quantity: '2' }, 'quantity: must be a whole number from 1 to 20'],
    ['no quantity', { quantity: undefined }, 'quantity: must be a whole number from 1 to 20'],
    ['more places than an invitation of the quota may have', { quantity: 4 }, 'quantity: is more than 3'],
    ['a sector that does not exist', { sector_id: randomUUID() }, 'sector_id: is not a sector of this match'],
    ['an unknown language', { locale: 'it' }, 'locale: must be hr or en'],
    ['a name with a control character', { name: 'Ana\nBcc: x' }, 'name: '],
    ['a name that is null', { name: null }, 'name: '],
    ['a long note', { note: 'x'.repeat(201) }, 'note: '],
    ['a user id that is no UUID', { user_id: '7' }, 'user_id: '],
  ])('refuses a row with %s, and invites the others', async (_what, fields, message) => {
    const { match, quota } = await quotaOf(10, { max_per_invitation: 3 });
    const answer = await calls.invite(quota, [guest(fields), guest()]);
    expect(verdicts(answer)).toEqual(['refused VALIDATION_FAILED', 'created']);
    expect(answer.json.items[0].message).toContain(message);
    expect(await mails(match)).toHaveLength(1);
  });

  test('refuses a sector of another match', async () => {
    const [{ quota }, other] = [await quotaOf(10), await onSale()];
    const answer = await calls.invite(quota, [guest({ sector_id: other.sectors[0]?.id })]);
    expect(verdicts(answer)).toEqual(['refused VALIDATION_FAILED']);
  });
});

describe('the key of a list', () => {
  test('invites nobody twice: the second list answers the ids of the first one and sends nothing', async () => {
    const { match, quota } = await quotaOf(20);
    const first = await calls.invite(quota, guests(3), { list_key: 'sponsors' });
    const more = [
      guest({ email: 'GUEST1@example.HR', quantity: 3 }),
      guest({ email: 'new@example.hr' }),
      guest({ email: 'New@example.hr' }),
    ];
    const again = await calls.invite(quota, more, { list_key: 'sponsors' });
    expect(verdicts(again)).toEqual(['duplicate', 'created', 'duplicate']);
    const [before, added, twice] = again.json.items;
    expect([before.id, twice.id]).toEqual([first.json.items[1].id, added.id]);
    expect(verdicts(await calls.invite(quota, guests(3), { list_key: 'sponsors' }))).toEqual(Array(3).fill('duplicate'));
    expect([await counts(quota), (await mails(match)).length]).toEqual([[20, 16, 4], 4]);
  });

  test('a row that was refused is invited when the list is sent again with places left', async () => {
    const { match, quota } = await quotaOf(2);
    expect(verdicts(await calls.invite(quota, guests(3), { list_key: 'a' }))).toEqual([
      'created',
      'created',
      'refused QUOTA_EXCEEDED',
    ]);
    const other = await calls.created(match, { kind: 'club', places: places(match, 1) });
    await calls.move(other, quota, { places: [{ quantity: 1 }] });
    expect(verdicts(await calls.invite(quota, guests(3), { list_key: 'a' }))).toEqual(['duplicate', 'duplicate', 'created']);
  });

  test('counts for its quota only, and without a key an address is invited as often as it is sent', async () => {
    const { match, quota } = await quotaOf(10);
    const other = await calls.created(match, { kind: 'club', places: places(match, 4) });
    for (const [id, settings] of [
      [quota, { list_key: 'a' }],
      [quota, { list_key: 'b' }],
      [other, { list_key: 'a' }],
    ] as const)
      expect(verdicts(await calls.invite(id, [guest()], settings))).toEqual(['created']);
    expect(verdicts(await calls.invite(quota, [guest(), guest()]))).toEqual(['created', 'created']);
  });
});

describe('the end of invitations', () => {
  test.each<
    [
      what: string,
      fields: Record<string, string>,
      given: string | undefined,
      end: 'given' | 'claim_until' | 'return_at' | 'kickoff',
    ]
  >([
    ['the given time', { claim_until: hoursFromNow(9) }, hoursFromNow(2), 'given'],
    ['claim_until, if the given time is later', { claim_until: hoursFromNow(9) }, hoursFromNow(10), 'claim_until'],
    ['claim_until, if no time is given', { claim_until: hoursFromNow(9), return_at: hoursFromNow(12) }, undefined, 'claim_until'],
    ['return_at, if the quota has no claim_until', { return_at: hoursFromNow(12) }, undefined, 'return_at'],
    ['kick-off, if the quota has no deadlines', {}, undefined, 'kickoff'],
  ])('is %s', async (_what, fields, given, end) => {
    const { match, quota } = await quotaOf(4, fields);
    await calls.invite(quota, [guest()], given ? { expires_at: given } : {});
    const [{ expires_at }] = await calls.invitations(quota);
    const { kickoff_at: kickoff } = (await calls.get(`/matches/${match.id}`)).json;
    const times: Record<string, unknown> = { ...fields, given, kickoff };
    expect(expires_at).toBe(times[end]);
    expect((await mails(match))[0].payload.claim_until).toBe(expires_at);
  });

  test.each<[what: string, statement: string]>([
    ['has returned its places', `update quotas set status = 'returned', returned_at = now() where id = $1`],
    ['could be claimed until a minute ago', `update quotas set claim_until = now() - interval '1 minute' where id = $1`],
    [
      'is of a cancelled match',
      `update matches set cancelled_at = now(), sale_status = 'closed' where id = (select match_id from quotas where id = $1)`,
    ],
    [
      'is of a match that has begun',
      `update matches set kickoff_at = now() where id = (select match_id from quotas where id = $1)`,
    ],
  ])('a quota that %s issues no invitations', async (_what, statement) => {
    const { match, quota } = await quotaOf(4);
    await opened.office.rows(statement, [quota]);
    for (const settings of [{}, { dry_run: true }])
      expect((await calls.invite(quota, [guest()], settings)).json).toMatchObject({ status: 409, code: 'INVALID_STATE' });
    expect(await mails(match)).toEqual([]);
  });
});

test('a dry run answers the verdicts without ids and changes no row of any table', async () => {
  const { quota } = await quotaOf(6, { max_per_invitation: 6 });
  await calls.invite(quota, [guest()], { list_key: 'a' });
  const tables = await opened.office.rows<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'idempotency_keys'`,
  );
  const contents = async (): Promise<unknown[]> => {
    const sums = tables.map(({ name }) => `select '${name}' as name, count(*), sum(hashtext(t::text)) from "${name}" t`);
    return opened.office.rows(sums.join(' union all '));
  };
  const before = await contents();
  const rows = [
    guest(),
    guest({ email: 'new@example.hr', quantity: 5 }),
    guest({ email: 'x' }),
    guest({ email: 'ivo@example.hr' }),
  ];
  const { status, json } = await calls.invite(quota, rows, { list_key: 'a', dry_run: true });
  expect([status, json.items]).toEqual([
    200,
    [
      { index: 0, status: 'duplicate' },
      { index: 1, status: 'created' },
      { index: 2, status: 'refused', code: 'VALIDATION_FAILED', message: 'email: is not an e-mail address' },
      { index: 3, status: 'refused', code: 'QUOTA_EXCEEDED', message: 'No sector has 1 free places left.' },
    ],
  ]);
  expect(await contents()).toEqual(before);
  expect(tables.length).toBeGreaterThan(20);
});

test('the same idempotency key invites once, and the answer is the same', async () => {
  const { match, quota } = await quotaOf(10);
  const key = newKey();
  const [first, again] = [await calls.invite(quota, guests(2), { key }), await calls.invite(quota, guests(2), { key })];
  expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
  expect((await calls.invite(quota, guests(3), { key })).json.code).toBe('IDEMPOTENCY_KEY_REUSED');
  expect(await mails(match)).toHaveLength(2);
});

test('500 people are invited by one call within 3 s, to places side by side', async () => {
  const match = await putOnSale(opened.office.monolith, { sectors: [seated('North', 40, 30), seated('South', 40, 30)] });
  const quota = await calls.created(match, { places: [{ quantity: 1100 }] });
  const rows = guests(500).map((row, index) => ({ ...row, quantity: 1 + (index % 3), name: `Guest ${index}` }));
  const startedAt = performance.now();
  const answer = await calls.invite(quota, rows, { list_key: 'all' });
  const tookMs = performance.now() - startedAt;
  process.stdout.write(`  500 invitations to 999 places in one call: ${Math.round(tookMs)} ms\n`);
  expect(verdicts(answer)).toEqual(Array(500).fill('created'));
  expect(tookMs).toBeLessThan(3000);
  const apart = await opened.office.rows(
    `select i.id from invitations i, unnest(i.seat_ids) as s(id) join seats using (id) where i.quota_id = $1
     group by i.id having count(distinct row_index) > 1 or max(number) - min(number) <> count(*) - 1`,
    [quota],
  );
  expect(apart).toEqual([]);
  expect(await counts(quota)).toEqual([1100, 101, 999]);
  expect(await faults(match)).toEqual([]);
});

test('the pages of a quota contain each invitation once, newest first', async () => {
  const { quota } = await quotaOf(10);
  await calls.invite(quota, guests(5));
  const first = (await calls.get(`/quotas/${quota}/invitations?limit=3`)).json;
  const second = (await calls.get(`/quotas/${quota}/invitations?limit=3&cursor=${first.next_cursor}`)).json;
  const emails = [...first.items, ...second.items].map(({ email }: { email: string }) => email);
  expect([emails, second.next_cursor]).toEqual([
    guests(5)
      .map(({ email }) => email)
      .reverse(),
    null,
  ]);
});
