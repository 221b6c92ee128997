import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { EventSources } from '#testing/event-sources';
import { LoaderProcess } from '../../bench/loader/loader-process.ts';
import { ROOT } from '../../tools/local/build.ts';
import { smallLoaderScenarios } from './loader/catalogue.ts';
import { runLoaderScenario } from './loader/run-loader-scenario.ts';

// The small fault scenarios of the event loader. loader.heavy.ts runs the scenarios at full size.

test.each(smallLoaderScenarios.map((scenario) => [scenario.title, scenario] as const))(
  'event loader, "%s": no event is lost or stored twice',
  async (_title, scenario) => expect((await runLoaderScenario(scenario)).faults).toEqual([]),
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
    await Promise.all([database.close(), redis.close()]);
  });

  function runCli(env: Record<string, string>, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const cli = path.join(ROOT, 'dist/apps/monolith/src/cli.js');
    const settings = { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, REDIS_URL: redis.url, ...env };
    return new Promise((resolve) => {
      execFile(process.execPath, [cli, ...args], { env: settings, timeout: 30_000 }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
      );
    });
  }

  test('loader:run without sources or with invalid sources lists every fault and exits with 78', async () => {
    writeFileSync(
      sourcesFile,
      JSON.stringify([
        { name: 'A', kind: 'http', url: 'ftp://x' },
        { name: 'b', kind: 'file' },
      ]),
    );
    const [withoutSources, withInvalidSources] = await Promise.all([
      runCli({}, 'loader:run', '--once'),
      runCli({ LOADER_SOURCES: sourcesFile }, 'loader:run'),
    ]);
    expect([withoutSources.code, withoutSources.out, withInvalidSources.code, withInvalidSources.out]).toEqual([78, '', 78, '']);
    expect(withoutSources.err).toContain('LOADER_SOURCES: is required');
    expect(withInvalidSources.err.match(/LOADER_SOURCES: /g)).toHaveLength(3);
  }, 60_000);

  test('loader:run exits with 69 without Redis or PostgreSQL, and with 2 on wrong usage', async () => {
    writeFileSync(sourcesFile, JSON.stringify([{ name: 'file', kind: 'file', path: 'withoutSources.ndjson' }]));
    const LOADER_SOURCES = sourcesFile;
    const codes = await Promise.all([
      runCli({ LOADER_SOURCES, DATABASE_URL: 'postgres://x:y@127.0.0.1:9/z' }, 'loader:run'),
      runCli({ LOADER_SOURCES, REDIS_URL: 'redis://127.0.0.1:9' }, 'loader:run'),
      runCli({ LOADER_SOURCES }, 'loader:run', '--twice'),
    ]);
    expect(codes.map(({ code }) => code)).toEqual([69, 69, 2]);
  }, 60_000);

  test('loader:run stopped during a fetch stores the fetched page, releases its lock and exits with 0', async () => {
    let onRequest = (): void => undefined;
    const requested = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    const sources = await EventSources.open({
      sizeOf: () => 10,
      misbehave(_request, response) {
        onRequest();
        setTimeout(() => response.end('{"events":[{"id":1,"payload":{}}]}'), 1500);
        return true;
      },
    });
    writeFileSync(sourcesFile, JSON.stringify([{ name: 'slow', kind: 'http', url: sources.urlOf('slow') }]));
    const loader = LoaderProcess.start({ databaseUrl: database.url, redisUrl: redis.url, sourcesFile });
    await requested;
    expect(await loader.stop()).toBe(0);
    await sources.close();
    const { out } = await runCli({}, 'loader:status', '--json');
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ source: 'slow', cursor: '1', stored: 1 }));
  }, 60_000);
});
