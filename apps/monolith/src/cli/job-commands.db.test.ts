import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Command, CommanderError } from 'commander';
import pg from 'pg';
import { addJobCommands } from './job-commands.ts';

let database: TestDatabase;
let redis: TestRedis;
const written = { out: process.stdout.write, err: process.stderr.write };
const before = { ...process.env };

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  Object.assign(process.env, { DATABASE_URL: database.url, REDIS_URL: redis.url, LOG_LEVEL: 'silent' });
});
beforeEach(async () => {
  await redis.flush();
  await run('truncate jobs, outbox, job_interventions');
});
afterEach(() => {
  process.stdout.write = written.out;
  process.stderr.write = written.err;
  process.exitCode = undefined;
});
afterAll(async () => {
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'LOG_LEVEL']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  await Promise.all([database.close(), redis.close()]);
});

/** Runs a command as `cli.ts` does. Returns its stdout and its exit code. */
async function cli(...args: string[]): Promise<{ code: number; out: string }> {
  const program = new Command('tribina').exitOverride();
  addJobCommands(program);
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => undefined });
  let out = '';
  process.stdout.write = (text) => Boolean((out += String(text)));
  process.stderr.write = () => true;
  const thrown: unknown = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
  process.stdout.write = written.out;
  process.stderr.write = written.err;
  if (thrown instanceof CommanderError) return { code: thrown.exitCode, out };
  if (thrown) throw thrown as Error;
  return { code: Number(process.exitCode ?? 0), out };
}

async function run<T>(sql: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows as T[];
  } finally {
    await client.end();
  }
}

const attempts = JSON.stringify([
  { at: '2026-11-18T12:00:00.000Z', error: 'first', stack: 'Error: first' },
  { at: '2026-11-18T12:00:01.000Z', error: 'no <ana.horvat@example.hr>', stack: 'Error: no <ana.horvat@example.hr>' },
]);

async function failedJobs(count: number, kind = 'remind_fans'): Promise<string[]> {
  const rows = await run<{ id: string }>(
    `insert into jobs (id, class, message, attempts, transport, failed_at)
     select gen_random_uuid(), $2, jsonb_build_object('class', $2::text, 'matchId', 'match-1', 'email', 'ana.horvat@example.hr'), $3, 'redis', now()
     from generate_series(1, $1) returning id`,
    [count, kind, attempts],
  );
  return rows.map(({ id }) => id);
}

const retriedJobs = async (): Promise<number> =>
  (await run<{ n: number }>(`select count(*)::int as n from outbox where destination = 'jobs'`))[0]?.n ?? -1;

test('jobs:failed counts the failed jobs and shows the newest error, with masked addresses', async () => {
  const [id] = await failedJobs(1);
  const { code, out } = await cli('jobs:failed');
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(`^1 failed job\\(s\\)\n${id} {2}jobs/remind_fans .* 2 attempt\\(s\\) {2}no <an•••@example.hr>\n$`),
    ),
  ]);
  const [shown] = JSON.parse((await cli('jobs:failed', '--json')).out);
  expect(shown.attempts.map(({ error }: { error: string }) => error)).toEqual(['no <an•••@example.hr>', 'first']);
  expect(shown.payload).toEqual({ class: 'remind_fans', matchId: 'match-1', email: 'an•••@example.hr' });
  expect((await cli('jobs:failed', '--json', '--reveal')).out).toContain('ana.horvat@example.hr');
});

test('jobs:retry --dry-run counts the jobs and changes nothing', async () => {
  await failedJobs(3);
  expect(await cli('jobs:retry', '--all', '--dry-run', '--json')).toEqual({
    code: 0,
    out: expect.stringContaining('"matched":3,"retried":0') as string,
  });
  expect(await retriedJobs()).toBe(0);
});

test('jobs:retry --all retries the jobs that match the filters and no others', async () => {
  await failedJobs(2);
  await failedJobs(3, 'announce_match_change');
  const { out } = await cli('jobs:retry', '--all', '--template', 'remind_fans');
  expect(out).toBe('2 job(s) to be retried\nretried 2 job(s)\n');
  expect([await retriedJobs(), (JSON.parse((await cli('jobs:failed', '--json')).out) as unknown[]).length]).toEqual([2, 3]);
  const by = await run<{ by: string }>('select distinct by from job_interventions');
  expect(by).toEqual([{ by: expect.stringMatching(/^cli:/) as string }]);
});

test('jobs:retry reports an unknown id, retries the other jobs and exits with 1', async () => {
  const [id = ''] = await failedJobs(1);
  const { code, out } = await cli('jobs:retry', id, '01997d2e-0000-7000-8000-000000000001', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ matched: 2, retried: 1, ids: [id], refused: [{ reason: 'There is no such job.' }] });
});

test('jobs:drop removes a failed job, jobs:drop --dry-run does not', async () => {
  const [id = ''] = await failedJobs(1);
  expect((await cli('jobs:drop', id, '--dry-run')).out).toBe(`1 job(s) to be dropped (dry run: nothing is changed)\n${id}\n`);
  expect((await cli('jobs:drop', id)).out).toBe('1 job(s) to be dropped\ndropped 1 job(s)\n');
  expect((await cli('jobs:failed')).out).toBe('0 failed job(s)\n');
});

test('parked outbox messages can be shown, retried and dropped like failed jobs', async () => {
  const rows = await run<{ id: string }>(
    `insert into outbox (id, destination, event, body, attempts, last_error, parked_at)
     select gen_random_uuid(), 'payments', 'payment.refund', '{}', 10, 'no <ana.horvat@example.hr>', now() from generate_series(1, 2)
     returning id`,
  );
  const [first = '', second = ''] = rows.map(({ id }) => id);
  const shown = JSON.parse((await cli('jobs:failed', '--queue', 'outbox', '--json')).out) as { id: string; queue: string }[];
  expect(shown.map(({ id }) => id).sort()).toEqual([first, second].sort());
  expect((await cli('jobs:failed')).out).toContain('outbox/payment.refund');
  expect((await cli('jobs:failed')).out).toContain('no <an•••@example.hr>');
  expect((await cli('jobs:retry', first)).code).toBe(0);
  expect((await cli('jobs:drop', second)).code).toBe(0);
  expect(await run('select id, parked_at, attempts from outbox')).toEqual([{ id: first, parked_at: null, attempts: 0 }]);
});

test('jobs:stats --json prints one document; jobs:consume with nothing to do exits with 0', async () => {
  await failedJobs(2);
  const counts = JSON.parse((await cli('jobs:stats', '--json')).out) as { queue: string; failed: number }[];
  expect(counts.map(({ queue, failed }) => [queue, failed])).toEqual([
    ['email', 0],
    ['push', 0],
    ['push-priority', 0],
    ['jobs', 2],
    ['outbox', 0],
  ]);
  expect(await cli('jobs:consume', '--until-empty')).toEqual({ code: 0, out: 'did 0 job(s)\n' });
});

test.each([
  ['jobs:retry'],
  ['jobs:retry', 'x', '--all'],
  ['jobs:failed', '--queue', 'fax'],
  ['jobs:consume', '--limit', '0'],
  ['jobs:drop'],
])('wrong usage of %s exits with an error code', async (...args) => {
  expect((await cli(...args)).code).toBeGreaterThan(0);
});
