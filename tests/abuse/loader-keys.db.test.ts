import { startSourceServer, type SourceServer } from '#event-loader/testing/source-server';
import { answerAsStripe } from '#event-loader/testing/stripe-list';
import { publicKeyText } from '#ticketing/ticket-keys';
import { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { addLoaderCommands } from '../../apps/monolith/src/cli/loader-commands.ts';
import { loaderConfig, settingsForLoader } from '../../apps/monolith/src/config.ts';
import { LoadedPaymentsSchedule } from '../../apps/monolith/src/purchase/settlement/inbound/loaded-payments.schedule.ts';
import { openBoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { putOnSale, type MatchOnSale } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { NoTicketCodes, TicketCodes } from '../../apps/monolith/src/ticketing/ticket-codes.ts';

// Attack: a source of events, or a library that reads them, takes over the loader. With the monolith's secrets it could sign tickets, call
// the waiting room as our own service and forge payments. The loader must do all its work without them.

const seed = randomBytes(32).toString('base64');
const publicKey = publicKeyText(seed);

let open: OpenBoxOffice;
let match: MatchOnSale;
let source: SourceServer;
let stripe: SourceServer;
let folder: string;
const scans: unknown[] = [];
const payments: { id: string }[] = [];
const environmentBefore = { ...process.env };

beforeAll(async () => {
  open = await openBoxOffice({ TICKET_SIGNING_KEY: seed });
  match = await putOnSale(open.office.monolith);
  source = await startSourceServer((url, response) => {
    const after = Number(url.searchParams.get('after_id'));
    response.end(JSON.stringify({ events: scans.map((payload, index) => ({ id: index + 1, payload })).slice(after) }));
  });
  stripe = await startSourceServer((url, response) => answerAsStripe(payments, url, response));
  folder = mkdtempSync(path.join(tmpdir(), 'tribina-loader-keys-'));
  writeFileSync(
    path.join(folder, 'sources.json'),
    JSON.stringify([
      { name: 'gate', kind: 'http', url: source.url, feeds: 'gate-scans' },
      { name: 'stripe', kind: 'stripe', url: stripe.url },
    ]),
  );
}, 60_000);
afterAll(async () => {
  process.env = environmentBefore;
  await Promise.all([source.close(), stripe.close()]);
  rmSync(folder, { recursive: true });
  await open.close();
});

/** Everything that a loader in production gets, and nothing else. */
const settings = (): Record<string, string> => ({
  NODE_ENV: 'production',
  LOG_LEVEL: 'silent',
  ...open.settings,
  LOADER_SOURCES: path.join(folder, 'sources.json'),
  STRIPE_SECRET_KEY: 'sk_live_test',
  TICKET_PUBLIC_KEYS: publicKey,
});

/** Runs `loader:run --once` with these settings. Returns what it printed; rejects with the exit code if it refuses them. */
async function load(env: Record<string, string>): Promise<string> {
  process.env = env;
  const { exit } = process;
  const writers = [process.stdout, process.stderr].map((stream) => ({ stream, write: stream.write }));
  let text = '';
  for (const { stream } of writers) stream.write = (chunk) => Boolean((text += String(chunk)));
  process.exit = (code) => {
    throw new Error(`exit ${code}: ${text}`);
  };
  try {
    const program = new Command('tribina').exitOverride();
    addLoaderCommands(program);
    await program.parseAsync(['loader:run', '--once'], { from: 'user' });
    return text;
  } finally {
    process.exit = exit;
    for (const { stream, write } of writers) stream.write = write;
    await new Promise((resolve) => setTimeout(resolve, 220));
  }
}

test('a loader in production without any secret of the monolith stores payments, which the monolith applies, and reads gate scans', async () => {
  const { office } = open;
  const held = await office.held(match, { quantity: 1 });
  const order = await office.ordered(held);
  const object = { id: order.intentId, amount: held.total_cents, amount_received: held.total_cents, currency: 'eur' };
  payments.push(Object.assign({ id: 'evt_1' }, { object: 'event', type: 'payment_intent.succeeded', data: { object } }));
  await load(settings());
  expect(await office.order(order)).toMatchObject({ status: 'awaiting_payment' });
  await office.monolith.app.get(LoadedPaymentsSchedule, { strict: false }).applyAll();
  expect(await office.order(order)).toMatchObject({ status: 'completed' });

  const { json } = await office.monolith.call('GET', '/api/v1/tickets', { as: held.userId });
  const [ticket] = json.items as { id: string; code: string }[];
  const forged = new TicketCodes(randomBytes(32).toString('base64'));
  const common = { type: 'gate.scan', match_id: match.id, gate: 'north', scanned_at: '2026-11-18T19:31:07Z', admitted: true };
  scans.push({ ...common, code: forged.write({ id: ticket!.id, matchId: match.id, serial: 1 }) });
  scans.push({ ...common, code: ticket!.code });
  await load(settings());
  const conflicts = await office.rows(`select event_id, code from loaded_conflicts order by event_id`);
  expect(conflicts).toEqual([{ event_id: '1', code: 'CODE_FORGED' }]);
  const after = await office.monolith.call('GET', `/api/v1/tickets/${ticket!.id}`, { as: held.userId });
  expect(after.json.status).toBe('used');
}, 60_000);

test('the settings of a loader name no secret besides its databases and the keys of its sources', () => {
  const secrets = Object.entries(loaderConfig.shape).filter(([, field]) => field.meta()?.secret === true);
  expect(secrets.map(([name]) => name).sort()).toEqual(['DATABASE_URL', 'REDIS_URL', 'STRIPE_SECRET_KEY']);
});

test('the use cases in a loader cannot sign: their secrets are random in each process, and writing a ticket code fails', () => {
  const config = { ...open.settings, NODE_ENV: 'production', LOG_LEVEL: 'silent' };
  const [one, two] = [settingsForLoader(loaderConfig.parse(config), []), settingsForLoader(loaderConfig.parse(config), [])];
  for (const name of ['TICKET_SIGNING_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_SECRET_KEY'] as const)
    expect(one[name]).not.toBe(two[name]);
  expect(one.INTERNAL_AUTH_SECRET[0]).not.toBe(two.INTERNAL_AUTH_SECRET[0]);
  expect(() => new NoTicketCodes(seed).write()).toThrow('no key to sign');
});

test.each([
  [{ TICKET_PUBLIC_KEYS: '' }, 'TICKET_PUBLIC_KEYS: is needed by a source that feeds gate-scans'],
  [{ TICKET_PUBLIC_KEYS: 'AAAA' }, 'TICKET_PUBLIC_KEYS: must be 32 bytes in base64'],
  [{ STRIPE_SECRET_KEY: '' }, 'LOADER_SOURCES: stripe: needs an authorization header, or STRIPE_SECRET_KEY'],
])('a loader in production whose sources need a key that is missing or wrong (%o) ends with 78', async (change, sentence) => {
  await expect(load({ ...settings(), ...(change as Record<string, string>) })).rejects.toThrow(/exit 78/);
  await expect(load({ ...settings(), ...(change as Record<string, string>) })).rejects.toThrow(sentence);
});

test('the public key of the development key is refused in production, because everybody can sign with it', async () => {
  const { developmentSecrets } = await import('#platform/config/settings');
  const known = publicKeyText(developmentSecrets.TICKET_SIGNING_KEY);
  await expect(load({ ...settings(), TICKET_PUBLIC_KEYS: known })).rejects.toThrow(
    'the development key is refused in production',
  );
});
