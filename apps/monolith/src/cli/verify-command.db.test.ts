import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { Command, CommanderError } from 'commander';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { addVerifyCommand } from './verify-command.ts';

let database: TestDatabase;
const stdoutWrite = process.stdout.write;
const before = process.env.DATABASE_URL;

beforeAll(async () => {
  database = await createTestDatabase();
  process.env.DATABASE_URL = database.url;
});
afterEach(() => {
  process.stdout.write = stdoutWrite;
  process.exitCode = undefined;
});
afterAll(async () => {
  if (before === undefined) delete process.env.DATABASE_URL;
  else process.env.DATABASE_URL = before;
  await database.close();
});

/** Runs `verify` as `cli.ts` does. Returns its stdout and its exit code. */
async function cli(...args: string[]): Promise<{ code: number; out: string }> {
  const program = new Command('tribina').exitOverride().configureOutput({ writeErr: () => undefined });
  addVerifyCommand(program);
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => undefined });
  let out = '';
  process.stdout.write = (text) => Boolean((out += String(text)));
  const thrown: unknown = await program.parseAsync(['verify', ...args], { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
  process.stdout.write = stdoutWrite;
  if (thrown instanceof CommanderError) return { code: thrown.exitCode, out };
  if (thrown) throw thrown as Error;
  return { code: Number(process.exitCode ?? 0), out };
}

async function run(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

const PARK = `insert into outbox (id, destination, event, body, parked_at, attempts, last_error)
              select gen_random_uuid(), 'email', 'order.completed', '{}', now(), 10, 'no' from generate_series(1, 25)`;

test('verify prints a line for each invariant and a summary; exit 0 if no invariant is broken', async () => {
  const { code, out } = await cli();
  const lines = out.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines.slice(0, -1).every((line) => /^ok {6}[a-z-]+: .+ \(0 checked\)$/.test(line))).toBe(true);
  expect(lines.at(-1)).toMatch(
    new RegExp(`^all ${lines.length - 1} hold; all matches as of \\d{4}-.*Z, 0 rows checked in \\d+ ms$`),
  );
});

test('verify prints a broken invariant with 20 of the rows that break it; exit 1', async () => {
  await run(PARK);
  const { code, out } = await cli();
  await run('truncate outbox');
  expect(code).toBe(1);
  expect(out).toContain(
    'BROKEN  parked-messages: no outbox message is parked (25 of 25)\n        parked after 10 attempt(s): {"',
  );
  expect(out.match(/message_id/g)).toHaveLength(20);
  expect(out).toContain('        … and 5 more\n');
  expect(out).toMatch(/\n1 of \d+ BROKEN; all matches/);
});

test('verify --json prints one JSON document and nothing else', async () => {
  await run(PARK);
  const { code, out } = await cli('--json');
  await run('truncate outbox');
  const verification = JSON.parse(out) as { ok: boolean; invariants: { name: string; broken: number; rows: unknown[] }[] };
  expect([code, verification.ok]).toEqual([1, false]);
  const finding = verification.invariants.find(({ name }) => name === 'parked-messages');
  expect([finding?.broken, finding?.rows.length]).toEqual([25, 20]);
});

test.each([
  ['a malformed match id', ['--match', '7']],
  ['an unknown match', ['--match', randomUUID()]],
  ['an unknown option', ['--all']],
  ['an argument', ['everything']],
])('verify with %s exits with an error code and prints nothing to stdout', async (_what, args) => {
  const { code, out } = await cli(...args);
  // Only "not 0" is checked: cli.ts, which this test does not run, turns commander's exit codes for wrong usage into 2.
  expect([code === 0, out]).toEqual([false, '']);
});
