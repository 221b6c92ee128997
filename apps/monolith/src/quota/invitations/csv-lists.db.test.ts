import { openBoxOffice, type OpenBoxOffice } from '../../purchase/testing/box-office.ts';
import { newKey } from '../../testing/test-app.ts';
import { ops, putOnSale, type MatchOnSale } from '../../testing/whole-monolith.ts';
import { hoursFromNow, QuotaCalls } from '../testing/quota-calls.ts';

let opened: OpenBoxOffice;
let calls: QuotaCalls;
let match: MatchOnSale;
let quota: string;

beforeAll(async () => {
  opened = await openBoxOffice();
  calls = new QuotaCalls(opened.office);
  match = await putOnSale(opened.office.monolith);
  quota = await calls.created(match, { places: [{ quantity: 40 }], max_per_invitation: 10 });
});
afterAll(() => opened.close());

/** Number of invitations, of bound places and of messages. */
const effects = async (): Promise<unknown> =>
  (
    await opened.office.rows(
      `select (select count(*)::int from invitations) as invitations, (select count(*)::int from outbox) as messages,
              (select count(*)::int from seats where bound_to is not null) as bound`,
    )
  )[0];

test('names with letters of all kinds arrive in the list and in the mail as they were written in Excel', async () => {
  const name = 'Đurđica Šćepanović-Žižić';
  const csv = [
    '\ufeff"name";"email";quantity;note;locale',
    `"${name}";djurdjica@example.hr;2;"""VIP""; box 3";hr`,
    `${name.normalize('NFD')};"nfd@example.hr";1;;`,
    '',
    ';;;;',
  ].join('\r\n');
  const { status, json } = await calls.inviteCsv(quota, csv, { query: '?list_key=excel' });
  expect([status, json.items.map((item: { status: string }) => item.status)]).toEqual([200, ['created', 'created']]);
  const [first, second] = await calls.invitations(quota);
  expect(first).toMatchObject({ name, email: 'djurdjica@example.hr', quantity: 2, note: '"VIP"; box 3', list_key: 'excel' });
  expect(second).toMatchObject({ name, note: null });
  const [mail] = await opened.office.rows<{ body: { recipient: string; payload: object } }>(
    `select body from outbox where body->>'recipient' = 'djurdjica@example.hr'`,
  );
  expect(mail?.body).toMatchObject({ payload: { locale: 'hr', tickets_count: 2 } });
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '=cmd|/c calc!A1', "'=1"])('the formula %j is stored as a text', async (formula) => {
  const rows = `email,quantity,name,note\nf@example.hr,1,"${formula}","${formula}"`;
  expect((await calls.inviteCsv(quota, rows)).json.items).toEqual([expect.objectContaining({ status: 'created' })]);
  expect((await calls.invitations(quota)).at(-1)).toMatchObject({ name: formula, note: formula });
});

test('settings of a list in CSV are query parameters, and the columns may be in any order and in upper case', async () => {
  const end = hoursFromNow(2);
  const query = `?list_key=q&expires_at=${end}`;
  const send = (more: string) => calls.inviteCsv(quota, 'Quantity,EMAIL\n1,q@example.hr', { query: query + more });
  expect((await send('&dry_run=true')).json.items).toEqual([{ index: 0, status: 'created' }]);
  const { id } = (await send('')).json.items[0];
  expect((await calls.invitations(quota)).at(-1)).toMatchObject({ id, list_key: 'q', expires_at: end });
  expect((await send('')).json.items).toEqual([{ index: 0, status: 'duplicate', id }]);
});

test('a faulty row of a list in CSV is refused alone', async () => {
  const rows = [
    'x;1',
    'a@example.hr;two',
    'a@example.hr;',
    'a@example.hr;11',
    'a@example.hr;1,5',
    'a@example.hr;1',
    'a@example.hr',
  ];
  const { json } = await calls.inviteCsv(quota, ['email;quantity', ...rows].join('\n'));
  expect(json.items.map((item: { status: string; code?: string }) => item.code ?? item.status)).toEqual(
    rows.map((row) => (row.endsWith(';1') && row !== 'x;1' ? 'created' : 'VALIDATION_FAILED')),
  );
});

const row = 'ana@example.hr,1\n';
test.each<[what: string, csv: string | Buffer, problem: object]>([
  ['600 rows', `email,quantity\n${row.repeat(600)}`, { status: 400, code: 'VALIDATION_FAILED' }],
  ['2.1 MB', `email,quantity\n${row.repeat(130_000)}`, { status: 413, code: 'PAYLOAD_TOO_LARGE' }],
  [
    'an unknown column',
    'email,quantity,price\na@example.hr,1,0',
    { errors: [{ path: '', message: 'has an unknown column: "price"' }] },
  ],
  ['200 columns', `email,quantity${',c'.repeat(198)}\n`, { errors: [{ path: '', message: 'has an unknown column: "c"' }] }],
  [
    '200 columns of the same name',
    `quantity${',email'.repeat(199)}\n`,
    { errors: [{ path: '', message: 'has a column twice' }] },
  ],
  [
    'a column without a name',
    'email,quantity,\na@example.hr,1,',
    { errors: [{ path: '', message: 'has an unknown column: ""' }] },
  ],
  ['no column for addresses', 'name,quantity\nAna,1', { errors: [{ path: '', message: 'has no column email' }] }],
  ['no line of names', `${row}${row}`, { status: 400 }],
  [
    'more cells than columns',
    'email,quantity\na@example.hr,1\nb@example.hr,1,Ana',
    { errors: [{ path: '', message: 'has more cells than columns in row 2' }] },
  ],
  ['a quote that is not closed', 'email,quantity\n"a@example.hr,1\n', { status: 400 }],
  ['a NUL', 'email,quantity,name\na@example.hr,1,A\0na', { status: 400, code: 'VALIDATION_FAILED' }],
  [
    'letters in the encoding of old Windows',
    Buffer.from('email,quantity,name\na@example.hr,1,\x8aime', 'latin1'),
    { status: 400, detail: 'The body is not UTF-8.' },
  ],
  ['UTF-16', Buffer.from('\ufeffemail,quantity\na@example.hr,1', 'utf16le'), { status: 400 }],
  ['no rows', 'email,quantity\n', { status: 400 }],
  ['no content', '', { status: 400 }],
  ['JSON', '{"invitations":[{"email":"a@example.hr","quantity":1}]}', { status: 400 }],
])('a list in CSV with %s is refused, and nobody is invited', async (_what, csv, problem) => {
  const before = await effects();
  expect((await calls.inviteCsv(quota, csv)).json).toMatchObject({ status: 400, ...problem });
  expect(await effects()).toEqual(before);
});

test.each<[what: string, body: object, path: string]>([
  ['501 rows', { invitations: Array(501).fill({ email: 'a@example.hr', quantity: 1 }) }, 'invitations'],
  ['no rows', { invitations: [] }, 'invitations'],
  ['an unknown field', { invitations: [{ email: 'a@example.hr', quantity: 1 }], price: 0 }, ''],
  [
    'an unknown field in a row',
    {
      invitations: [
        { email: 'a@example.hr', quantity: 1 },
        { email: 'a@example.hr', quantity: 1, seat: 'A1' },
      ],
    },
    'invitations.1',
  ],
  ['a row that is a text', { invitations: ['a@example.hr'] }, 'invitations.0'],
  [
    'an end that has passed',
    { invitations: [{ email: 'a@example.hr', quantity: 1 }], expires_at: hoursFromNow(-1) },
    'expires_at',
  ],
  [
    'an end without a time zone',
    { invitations: [{ email: 'a@example.hr', quantity: 1 }], expires_at: '2027-01-01T00:00:00' },
    'expires_at',
  ],
  ['an empty key', { invitations: [{ email: 'a@example.hr', quantity: 1 }], list_key: '' }, 'list_key'],
  ['a dry run as a text', { invitations: [{ email: 'a@example.hr', quantity: 1 }], dry_run: 'true' }, 'dry_run'],
])('a list in JSON with %s is 400, and nobody is invited', async (_what, body, path) => {
  const before = await effects();
  const { json } = await opened.office.monolith.call('POST', `/api/v1/quotas/${quota}/invitations`, { ...ops, body });
  expect(json).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', errors: [{ path }] });
  expect(await effects()).toEqual(before);
});

test('a list whose invitations would end before they can be claimed is 400', async () => {
  const opening = await calls.created(match, { opens_at: hoursFromNow(3), places: [{ quantity: 2 }] });
  const invite = (query: string) => calls.inviteCsv(opening, `email,quantity\n${row}`, { query });
  const errors = [{ path: 'expires_at', message: 'must be after opens_at of the quota' }];
  expect((await invite(`?expires_at=${hoursFromNow(2)}`)).json).toMatchObject({ status: 400, errors });
  expect((await invite(`?expires_at=${hoursFromNow(4)}`)).status).toBe(200);
});

test.each(['?dry_run=yes', '?expires_at=tomorrow', '?list_key=', '?list_key=a%00b', `?list_key=${'x'.repeat(101)}`])(
  'the query %j is 400',
  async (query) => {
    expect((await calls.inviteCsv(quota, `email,quantity\n${row}`, { query })).status).toBe(400);
  },
);

test.each(['text/plain', 'application/vnd.ms-excel', 'text/csv-schema', ''])('a list in CSV as %j is 415', async (type) => {
  expect((await calls.inviteCsv(quota, `email,quantity\n${row}`, { type })).json.code).toBe('UNSUPPORTED_MEDIA_TYPE');
});

test('an idempotency key answers the same list again, and refuses another list or other settings', async () => {
  const key = newKey();
  const csv = 'email,quantity\nkey@example.hr,1';
  const [first, again] = [await calls.inviteCsv(quota, csv, { key }), await calls.inviteCsv(quota, csv, { key })];
  expect([first.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
  const others = [
    await calls.inviteCsv(quota, `${csv}\n`, { key }),
    await calls.inviteCsv(quota, csv, { key, query: '?dry_run=true' }),
  ];
  expect(others.map(({ json }) => json.code)).toEqual(['IDEMPOTENCY_KEY_REUSED', 'IDEMPOTENCY_KEY_REUSED']);
});
