import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Command, CommanderError } from 'commander';
import { insertMatches } from '../catalog/testing/inserted-matches.ts';
import { openMonolith, type WholeMonolith } from '../testing/whole-monolith.ts';
import { addSearchCommands } from './search-commands.ts';

let database: TestDatabase;
let redis: TestRedis;
let monolith: WholeMonolith;
const written = { out: process.stdout.write, err: process.stderr.write };
const before = { ...process.env };

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url });
  Object.assign(process.env, { DATABASE_URL: database.url, REDIS_URL: redis.url, LOG_LEVEL: 'silent' });
  await insertMatches(monolith.dataSource, 700);
});
beforeEach(() => monolith.dataSource.query('truncate match_search, match_search_rebuild'));
afterEach(() => {
  process.stdout.write = written.out;
  process.stderr.write = written.err;
});
afterAll(async () => {
  process.env = before;
  await monolith.close();
  await Promise.all([database.close(), redis.close()]);
});

/** Runs a command as `cli.ts` does. `onError` is called with what it writes to stderr. */
async function cli(args: string[], onError: (text: string) => void = () => undefined) {
  const program = new Command('tribina').exitOverride();
  addSearchCommands(program);
  let [out, err] = ['', ''];
  for (const command of program.commands)
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: (text) => (out += text) });
  process.stdout.write = (text) => Boolean((out += String(text)));
  process.stderr.write = (text) => {
    err += String(text);
    onError(String(text));
    return true;
  };
  const thrown: unknown = await program.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
  process.stdout.write = written.out;
  process.stderr.write = written.err;
  if (thrown && !(thrown instanceof CommanderError)) throw thrown as Error;
  return { code: (thrown as CommanderError | undefined)?.code, out, err };
}

const found = async (q: string): Promise<number> => (await monolith.call('GET', `/api/v1/matches?q=${q}`)).json.items.length;

test('search:rebuild indexes all matches, with its progress on stderr and one line on stdout', async () => {
  expect(await found('durdevac+700')).toBe(0);
  const { out, err } = await cli(['search:rebuild']);
  expect(out).toBe('indexed 700 match(es); the search index is complete\n');
  expect(err).toBe('500 of 700 matches (71 %)\n700 of 700 matches (100 %)\n');
  expect(await found('durdevac+700')).toBe(1);
});

test('search:rebuild --json prints one document', async () => {
  const { out } = await cli(['search:rebuild', '--json']);
  expect(JSON.parse(out)).toEqual({ complete: true, indexed: 700, continued_from: null });
});

test('search:rebuild finishes its batch on SIGTERM and says that the next run continues it; the next run does', async () => {
  const first = await cli(['search:rebuild'], () => process.emit('SIGTERM'));
  expect(first.out).toBe('indexed 500 match(es); stopped: run the command again to continue\n');
  const { out } = await cli(['search:rebuild', '--json']);
  expect(JSON.parse(out)).toMatchObject({ complete: true, indexed: 200, continued_from: { done: 500 } });
  await cli(['search:rebuild'], () => process.emit('SIGTERM'));
  expect(JSON.parse((await cli(['search:rebuild', '--restart', '--json'])).out)).toMatchObject({ indexed: 700 });
});

test.each([[['search:rebuild', '--fast']], [['search:rebuild', 'matches']]])('wrong usage %j is refused', async (args) => {
  expect((await cli(args)).code).toMatch(/^commander\.(unknownOption|excessArguments)$/);
});

test('search:rebuild --help names its options', async () => {
  const { code, out } = await cli(['search:rebuild', '--help']);
  expect(code).toBe('commander.helpDisplayed');
  expect(out).toMatch(/--restart[^]*--json/);
});
