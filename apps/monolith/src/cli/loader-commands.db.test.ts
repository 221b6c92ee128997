import { EventSources } from '#testing/event-sources';
import { startSourceServer, type SourceServer } from '#event-loader/testing/source-server';
import { answerAsStripe } from '#event-loader/testing/stripe-list';
import { Command } from 'commander';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BoxOffice, openBoxOffice, type OpenBoxOffice, type Ordered } from '../purchase/testing/box-office.ts';
import { putOnSale, type MatchOnSale } from '../testing/whole-monolith.ts';
import { LoadedPaymentsSchedule } from '../purchase/settlement/inbound/loaded-payments.schedule.ts';
import { addLoaderCommands } from './loader-commands.ts';

let open: OpenBoxOffice;
let office: BoxOffice;
let match: MatchOnSale;
let sources: EventSources;
let stripe: SourceServer;
let folder: string;
let size = 2500;
const stripeEvents: { id: string }[] = [];
const stdoutWrite = process.stdout.write;
const environmentBefore = { ...process.env };

beforeAll(async () => {
  open = await openBoxOffice();
  office = open.office;
  match = await putOnSale(office.monolith);
  sources = await EventSources.open({ sizeOf: (name) => (name === 'dead' ? 0 : size), misbehave: answer500 });
  stripe = await startSourceServer((url, response) => answerAsStripe(stripeEvents, url, response));
  folder = await mkdtemp(path.join(tmpdir(), 'tribina-loader-'));
  Object.assign(process.env, open.settings, { LOG_LEVEL: 'silent', STRIPE_SECRET_KEY: 'sk_test' });
}, 60_000);
afterAll(async () => {
  process.env = environmentBefore;
  await Promise.all([sources.close(), stripe.close(), rm(folder, { recursive: true })]);
  await open.close();
});

function answer500(_request: unknown, response: { statusCode: number; end(): unknown }, name: string): boolean {
  if (name !== 'dead' && !name.startsWith('shut')) return false;
  response.statusCode = name === 'dead' ? 500 : 401;
  response.end();
  return true;
}

async function configured(list: readonly unknown[]): Promise<void> {
  const file = path.join(folder, 'sources.json');
  await writeFile(file, JSON.stringify(list));
  process.env.LOADER_SOURCES = file;
}

/** Runs a command as `cli.ts` does. Returns its stdout. */
async function cli(...args: string[]): Promise<string> {
  const program = new Command('tribina').exitOverride();
  addLoaderCommands(program);
  let out = '';
  process.stdout.write = (text) => Boolean((out += String(text)));
  await program.parseAsync(args, { from: 'user' }).finally(() => (process.stdout.write = stdoutWrite));
  return out;
}

const status = async (): Promise<Record<string, unknown>[]> => JSON.parse(await cli('loader:status', '--json'));
/** Polls each source once, then waits the minimum interval between two polls of a source. */
async function pollOnce(): Promise<string> {
  const out = await cli('loader:run', '--once');
  await new Promise((resolve) => setTimeout(resolve, 220));
  return out;
}

test('loader:status lists a configured source before its first poll', async () => {
  expect(await cli('loader:status')).toBe('no source has been polled yet, and LOADER_SOURCES names none\n');
  await configured([{ name: 'gate', kind: 'http', url: sources.urlOf('gate') }]);
  expect(await status()).toEqual([
    expect.objectContaining({ source: 'gate', cursor: null, stored: 0, refused_duplicates: 0, quarantined: 0, last_error: null }),
  ]);
});

test('loader:run --once polls each source once, for at most 1,000 events; a failing source does not affect the others', async () => {
  await configured([
    { name: 'dead', kind: 'http', url: sources.urlOf('dead') },
    { name: 'gate', kind: 'http', url: sources.urlOf('gate') },
  ]);
  expect(await pollOnce()).toBe(
    '1000 event(s) stored, 0 duplicate(s) refused, 0 quarantined\ndead: SOURCE_FAILED: it answered 500\n',
  );
  await pollOnce();
  await pollOnce();
  await pollOnce();
  expect(await status()).toEqual([
    expect.objectContaining({ source: 'dead', cursor: null, stored: 0, last_error: 'SOURCE_FAILED: it answered 500' }),
    expect.objectContaining({ source: 'gate', cursor: '2500', stored: 2500, refused_duplicates: 0, last_error: null }),
  ]);
  expect(sources.ledgerOf('gate')).toMatchObject({ askedAfter: [0, 1000, 2000, 2500], sentAgain: 0 });
  const [row] = await office.rows<{ n: number }>(`select count(*)::int as n from loaded_events where source = 'gate'`);
  expect(row?.n).toBe(2500);
});

test('a source with the setting `overlap: 10` is asked for its last 10 ids again, and the known events are refused as duplicates', async () => {
  await configured([{ name: 'late', kind: 'http', url: sources.urlOf('late'), overlap: 10 }]);
  size = 100;
  await pollOnce();
  size = 110;
  expect(await pollOnce()).toBe('10 event(s) stored, 10 duplicate(s) refused, 0 quarantined\n');
  expect(sources.ledgerOf('late').askedAfter).toEqual([0, 90]);
});

test('/metrics has the figures of every event source', async () => {
  const page = await office.monolith.app.inject({ method: 'GET', url: '/metrics' });
  expect(page.body).toMatch(/^loader_events_stored\{source="gate"\} 2500$/m);
  expect(page.body).toMatch(/^loader_errors\{source="dead"\} \d+$/m);
  expect(page.body).toMatch(/^loader_lag_seconds\{source="gate"\} /m);
});

describe('payment events loaded from the provider’s list', () => {
  /** Loads the events, then lets the monolith apply them. Its periodic tasks do not run in this test. */
  async function loadAndApply(): Promise<void> {
    await pollOnce();
    await office.monolith.app.get(LoadedPaymentsSchedule, { strict: false }).applyAll();
  }
  function addEvent({ intentId, held }: Ordered, id = `evt_${stripeEvents.length}a`): string {
    const object = { id: intentId, amount: held.total_cents, amount_received: held.total_cents, currency: 'eur' };
    stripeEvents.push(Object.assign({ id }, { object: 'event', type: 'payment_intent.succeeded', data: { object } }));
    return id;
  }
  const ordered = async (): Promise<Ordered> => office.ordered(await office.held(match, { quantity: 1 }));
  const due = (): Promise<unknown[]> => office.rows('select event_id, parked_at is not null as parked from loaded_events_due');
  beforeAll(() => configured([{ name: 'stripe', kind: 'stripe', url: stripe.url }]));

  test('complete the order of a payment whose webhook never arrived', async () => {
    const order = await ordered();
    addEvent(order);
    await loadAndApply();
    expect(await office.order(order)).toMatchObject({ status: 'completed' });
    expect(await due()).toEqual([]);
  }, 30_000);

  test('have one effect although the webhook reported the payment too, two loaders run at once and the event is applied twice', async () => {
    const order = await ordered();
    const eventId = addEvent(order);
    await office.settle(office.report(order, { eventId }));
    await Promise.all([cli('loader:run', '--once'), cli('loader:run', '--once')]);
    await office.rows(
      `insert into loaded_events_due (source, event_id, feeds) values ('stripe', $1, 'payments') on conflict do nothing`,
      [eventId],
    );
    await loadAndApply();
    const messages = (await office.outbox(order.orderId)).filter(({ event }) => event === 'order.completed');
    const tickets = await office.rows('select 1 from tickets where order_id = $1', [order.orderId]);
    expect([messages.length > 0, tickets.length, await due()]).toEqual([true, 1, []]);
    const inboxRows = await office.rows(`select count(*)::int as n from payment_inbox where event_id = $1`, [eventId]);
    expect(inboxRows).toEqual([{ n: 1 }]);
  }, 30_000);

  test('that are malformed are parked, and the events after them take effect', async () => {
    stripeEvents.push(Object.assign({ id: 'evt_bad' }, { type: 'payment_intent.succeeded', data: { object: 'none' } }));
    const order = await ordered();
    addEvent(order);
    await loadAndApply();
    expect(await office.order(order)).toMatchObject({ status: 'completed' });
    expect(await due()).toEqual([{ event_id: 'evt_bad', parked: true }]);
  }, 30_000);
});

test('operators get one alert an hour for each event source that answers 401, however often the source is polled', async () => {
  const alerts = async (): Promise<string[]> => {
    const rows = await office.rows<{ about: string }>(
      `select message ->> 'about' as about from jobs where class = 'alert_operators' order by id`,
    );
    return rows.map(({ about }) => about);
  };
  const refusing = ['shut-one', 'shut-two'].map((name) => ({
    name,
    kind: 'http',
    url: sources.urlOf(name),
    headers: { authorization: 'Bearer x' },
  }));
  await configured([...refusing, { name: 'dead', kind: 'http', url: sources.urlOf('dead') }]);
  await pollOnce();
  expect(await alerts()).toEqual([]);
  process.env.ALERT_EMAIL = 'duty@example.hr';
  try {
    await office.rows(`update loader_sources set refusal_told_at = null`);
    await pollOnce();
    await pollOnce();
    const once = ['loader source shut-one refuses', 'loader source shut-two refuses'];
    expect((await alerts()).sort()).toEqual(once);
    // Simulates that an hour has passed and the first alerts were delivered.
    await office.rows(`update loader_sources set refusal_told_at = now() - interval '61 minutes' where source = 'shut-two'`);
    await office.rows(`update alert_notes set told_at = told_at - interval '61 minutes'`);
    await office.rows(`update jobs set done_at = now() where class = 'alert_operators'`);
    await pollOnce();
    expect((await alerts()).sort()).toEqual([...once, 'loader source shut-two refuses']);
    const [job] = await office.rows<{ message: unknown }>(`select message from jobs where class = 'alert_operators' limit 1`);
    expect(JSON.stringify(job)).not.toMatch(/Bearer|http:/);
  } finally {
    delete process.env.ALERT_EMAIL;
  }
});

test('loader:run --alive-file writes the file again and again while its only source fails', async () => {
  const file = path.join(folder, 'alive');
  const changedAt = () => stat(file).then(({ mtimeMs }) => mtimeMs);
  await configured([{ name: 'dead', kind: 'http', url: sources.urlOf('dead') }]);
  const run = cli('loader:run', '--alive-file', file);
  while (!(await changedAt().catch(() => undefined))) await new Promise((resolve) => setTimeout(resolve, 20));
  const first = await changedAt();
  while ((await changedAt()) === first) await new Promise((resolve) => setTimeout(resolve, 100));
  process.emit('SIGTERM');
  await run;
}, 20_000);
