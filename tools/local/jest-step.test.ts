import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './build.ts';
import { jestStep } from './jest-step.ts';

test('jestStep: the name of a failed test is printed while the run goes on; the slowest files follow at the end', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tribina-jest-step-'));
  const shownFile = path.join(folder, 'shown');
  const config = {
    rootDir: path.join(ROOT, 'tests/canaries/failing'),
    testRegex: '\\.test\\.mjs$',
    transform: {},
    moduleFileExtensions: ['mjs', 'js'],
    globals: { shownFile },
    cacheDirectory: path.join(folder, 'cache'),
  };
  const lines: string[] = [];
  const say = (line: string) => {
    lines.push(line);
    if (line.endsWith('› fails at once')) writeFileSync(shownFile, '');
  };
  try {
    const result = await jestStep(say, [`--config=${JSON.stringify(config)}`]).run(new AbortController().signal);
    expect(lines.sort()).toEqual([
      '  FAILED tests/canaries/failing/cannot-run.test.mjs › this file cannot run',
      '  FAILED tests/canaries/failing/fails-first.test.mjs › fails at once',
    ]);
    // `passed: 2` includes the test that passes only if the failure before it was printed while it ran.
    expect(result).toMatchObject({ passed: 2, failed: 2, note: '2 passed, 2 failed' });
    expect(result.details?.map((line) => path.basename(line)).sort()).toEqual([
      'cannot-run.test.mjs',
      'fails-first.test.mjs',
      'passes.test.mjs',
    ]);
    expect(result.output).toContain('expect(received).toBe(expected)');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
