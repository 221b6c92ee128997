import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { JEST_ARGUMENTS } from '../tools/local/jest-step.ts';
import { runCommand } from '../tools/local/run-command.ts';

// jest --findRelatedTests, --onlyChanged and --changedSince ask tests/setup/dependency-extractor.mjs what a file depends on.

const root = path.resolve(import.meta.dirname, '..');
const lineScript = 'apps/queue-service/src/waiting-room/outbound/lua/join-line.lua';

/** The tests that Jest finds for a changed file, as paths in the project. */
async function relatedTests(changed: string, ...options: string[]): Promise<string[]> {
  const args = [...JEST_ARGUMENTS, '--listTests', ...options, '--findRelatedTests', changed];
  const { code, output } = await runCommand(process.execPath, args, { cwd: root });
  expect([code, output]).toEqual([0, expect.any(String)]);
  return output.split('\n').map((file) => path.relative(root, file));
}

test('a file of a library: tests that reach it through #platform/… are related', async () => {
  const tests = await relatedTests('libs/platform/src/ids.ts');
  expect(tests).toContain('libs/platform/src/ids.test.ts');
  expect(tests).toContain('tests/race/last-seats.db.test.ts');
  expect(tests).not.toContain('libs/domain/src/shared/money.test.ts');
});

test.each([
  [lineScript, 'apps/queue-service/src/waiting-room/outbound/line-order.db.test.ts'],
  ['apps/queue-service/src/waiting-room/outbound/lua/parts/settings.lua', 'tests/journeys/sold-out.db.test.ts'],
  ['libs/messaging/src/sending/lua/enter.lua', 'libs/messaging/src/sending/provider-limiter.db.test.ts'],
])('the script %s: tests of the adapter that reads it are related', async (script, expected) => {
  const tests = await relatedTests(script);
  expect(tests).toContain(expected);
  expect(tests).not.toContain('libs/platform/src/ids.test.ts');
});

test("negative control: with Jest's own extractor only tests with a relative import are related", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-extractor-'));
  try {
    const extractor = path.join(folder, 'plain.mjs');
    writeFileSync(
      extractor,
      `export const extract = (content, file, byJest) => byJest(content); export const getCacheKey = () => 'plain';`,
    );
    const plain = `--dependencyExtractor=${extractor}`;
    const tests = await relatedTests('libs/platform/src/ids.ts', plain);
    expect(tests).toContain('libs/platform/src/ids.test.ts');
    expect(tests).not.toContain('tests/race/last-seats.db.test.ts');
    expect(await relatedTests(lineScript, plain)).toEqual(['']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
