import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from './build.ts';
import type { Step } from './check-steps.ts';
import { type JestReport, summarize } from './jest-report.ts';
import { runCommand } from './run-command.ts';

/** What Node is started with to run Jest on our sources. */
export const JEST = [
  '--conditions=source',
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];
/** Some CI systems end a job that says nothing for long. */
const SIGN_OF_LIFE_MS = 30_000;

/** All of Jest as one step; each of its tests counts. */
export function jestStep(say: (line: string) => void): Step {
  return {
    name: 'tests',
    async run(signal) {
      const folder = mkdtempSync(path.join(tmpdir(), 'tribina-jest-'));
      const report = path.join(folder, 'report.json');
      let files = 0;
      const life = setInterval(() => say(`  tests are running, ${files} files done`), SIGN_OF_LIFE_MS);
      try {
        const args = [...JEST, '--ci', '--json', `--outputFile=${report}`];
        const onLine = (line: string) => void (files += /^(PASS|FAIL) /.test(line) ? 1 : 0);
        const { code, output } = await runCommand(process.execPath, args, { cwd: ROOT, signal, onLine });
        return summarize(code, output, readReport(report));
      } finally {
        clearInterval(life);
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

function readReport(file: string): JestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as JestReport;
  } catch {
    return undefined; // It did not get as far as writing one.
  }
}
