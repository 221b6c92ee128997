import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { EventSources } from '#testing/event-sources';
import { LoaderProcess } from '../../bench/loader/loader-process.ts';
import { ROOT } from '../../tools/local/build.ts';
import { smallLoaderScenarios } from './loader/catalogue.ts';
import { perform } from './loader/performing.ts';

// The small ones; all of them, at full size, are the heavy suite (loader.heavy.ts).

test.each(smallLoaderScenarios.map((scenario) => [scenario.title, scenario] as const))(
  '%s: nothing lost, nothing twice',
  async (_title, scenario) => expect((await perform(scenario)).faults).toEqual([]),
  90_000,
);

describe('loader:run as a process', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-loader-cli-'));
  const sourcesFile = path.join(folder, 'sources.json');
  beforeAll(async () => {
    [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await Promise.all([database.drop(), redis.close()]);
  });

  function ended(env: Record<string, string>, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const cli = path.join(ROOT, 'dist/apps/monolith/src/cli.js');
    const settings = { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, REDIS_URL: redis.url, ...env };
    return new Promise((resolve) => {
      execFile(process.execPath, [cli, ...args], { env: settings, timeout: 30_000 }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
      );
    });
  }

  test('without sources, or with bad ones, it says everything that is wrong and ends with 78', async () => {
    writeFileSync(
      sourcesFile,
      JSON.stringify([
        { name: 'A', kind: 'http', url: 'ftp://x' },
        { name: 'b', kind: 'file' },
      ]),
    );
    const [none, bad] = await Promise.all([
      ended({}, 'loader:run', '--once'),
      ended({ LOADER_SOURCES: sourcesFile }, 'loader:run'),
    ]);
    expect([none.code, none.out, bad.code, bad.out]).toEqual([78, '', 78, '']);
    expect(none.err).toContain('LOADER_SOURCES: is needed');
    expect(bad.err.match(/LOADER_SOURCES: /g)).toHaveLength(3);
  }, 60_000);

  test('without Redis or PostgreSQL it ends with 69; wrong usage with 2', async () => {
    writeFileSync(sourcesFile, JSON.stringify([{ name: 'file', kind: 'file', path: 'none.ndjson' }]));
    const LOADER_SOURCES = sourcesFile;
    const codes = await Promise.all([
      ended({ LOADER_SOURCES, DATABASE_URL: 'postgres://x:y@127.0.0.1:9/z' }, 'loader:run'),
      ended({ LOADER_SOURCES, REDIS_URL: 'redis://127.0.0.1:9' }, 'loader:run'),
      ended({ LOADER_SOURCES }, 'loader:run', '--twice'),
    ]);
    expect(codes.map(({ code }) => code)).toEqual([69, 69, 2]);
  }, 60_000);

  test('told to stop in the middle of a fetch it finishes it, lets go of its lock and ends with 0', async () => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const sources = await EventSources.open({
      sizeOf: () => 10,
      misbehave(_request, response) {
        answer();
        setTimeout(() => response.end('{"events":[{"id":1,"payload":{}}]}'), 1500);
        return true;
      },
    });
    writeFileSync(sourcesFile, JSON.stringify([{ name: 'slow', kind: 'http', url: sources.urlOf('slow') }]));
    const loader = LoaderProcess.start({ databaseUrl: database.url, redisUrl: redis.url, sourcesFile });
    await asked;
    expect(await loader.stop()).toBe(0);
    await sources.close();
    const { out } = await ended({}, 'loader:status', '--json');
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ source: 'slow', cursor: '1', stored: 1 }));
  }, 60_000);
});
