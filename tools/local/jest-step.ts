import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './build.ts';
import type { CheckStep } from './check-steps.ts';
import { type JestReport, summarizeJestRun } from './jest-report.ts';
import { readJson } from './optional-file.ts';
import { runCommand } from './run-command.ts';

/** Node's arguments to run Jest on our TypeScript sources. */
export const JEST_ARGUMENTS = [
  '--conditions=source',
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
const REPORTERS = ['--reporters=default', `--reporters=${path.join(ROOT, 'tests/setup/failure-reporter.mjs')}`];
/** How often the progress is printed. Some CI systems cancel a job that prints nothing for a long time. */
const PROGRESS_INTERVAL_MS = 30_000;

/**
 * The whole Jest run as one step of `npm test`. Each test is counted. The name of a failed test is printed as soon as it has failed.
 */
export function jestStep(say: (line: string) => void, options: string[] = []): CheckStep {
  return {
    name: 'tests',
    async run(signal) {
      const folder = mkdtempSync(path.join(tmpdir(), 'tribina-jest-'));
      const report = path.join(folder, 'report.json');
      let files = 0;
      const progress = setInterval(() => say(`  tests are running, ${files} files done`), PROGRESS_INTERVAL_MS);
      try {
        const args = [...JEST_ARGUMENTS, '--ci', ...REPORTERS, '--json', `--outputFile=${report}`, ...options];
        const onLine = (line: string) => {
          if (/^(PASS|FAIL) /.test(line)) files += 1;
          if (line.startsWith('FAILED ')) say(`  ${line}`);
        };
        const { code, output } = await runCommand(process.execPath, args, { cwd: ROOT, signal, onLine });
        // There is no report if Jest ended before it wrote one.
        return summarizeJestRun(code, output, readJson<JestReport>(report));
      } finally {
        clearInterval(progress);
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
