import { readFileSync } from 'node:fs';
import path from 'node:path';
import { npmBinary, build, ROOT } from './build.ts';
import { type Lockfile, lockfileFaults } from './lockfile.ts';
import { runCommand } from './run-command.ts';
import { explain } from './trouble.ts';

export interface StepResult {
  passed: number;
  failed: number;
  /** Names of the tests that did not run. */
  notRun?: string[];
  /** A short text after the step's name. */
  note?: string;
  /** Shown when something failed. */
  output: string;
}

export interface Step {
  name: string;
  run(signal: AbortSignal): Promise<StepResult>;
}

/** The last lines of a run: the name of each test that did not run, then the counts. */
export function summaryLines(results: readonly StepResult[]): string[] {
  const sum = (count: 'passed' | 'failed') => results.reduce((total, result) => total + result[count], 0);
  const notRun = results.flatMap((result) => result.notRun ?? []);
  const skipped = notRun.length > 0 ? `, ${notRun.length} skipped` : '';
  return [...notRun.map((name) => `NOT RUN ${name}`), `${sum('passed')} passed, ${sum('failed')} failed${skipped}`];
}

/** Nested configs are disabled, because a Nest package contains an oxlint config and oxlint would stop at it. */
export const LINT_ARGUMENTS = ['--disable-nested-config', 'apps', 'libs', 'tools', 'tests', 'bench', 'jest.config.mjs'];

/** Checks that write no files, so that two can run at the same time. */
export function staticSteps(): Step[] {
  return [
    inProcess('lockfile', async () => checkLockfile()),
    command('types', 'tsc', ['-p', 'tsconfig.json', '--noEmit']),
    command('lint', 'oxlint', LINT_ARGUMENTS),
    command('types of the web app', 'tsc', ['-p', 'apps/web/tsconfig.json', '--noEmit']),
    command('format', 'prettier', ['--check', '--log-level=warn', '.']),
    command('types of the pure core', 'tsc', ['-p', 'tsconfig.pure.json', '--noEmit']),
    command('dead code', 'knip', ['--no-progress']),
  ];
}

export function buildStep(): Step {
  return inProcess('build', (signal) => build({ say: () => undefined, signal }));
}

function command(name: string, tool: string, args: string[]): Step {
  return {
    name,
    async run(signal) {
      const { code, output } = await runCommand(npmBinary(tool), args, { cwd: ROOT, signal });
      return code === 0 ? { passed: 1, failed: 0, output } : { passed: 0, failed: 1, output };
    },
  };
}

function inProcess(name: string, work: (signal: AbortSignal) => Promise<void>): Step {
  return {
    name,
    async run(signal) {
      try {
        await work(signal);
        return { passed: 1, failed: 0, output: '' };
      } catch (error) {
        signal.throwIfAborted();
        return { passed: 0, failed: 1, output: explain(error) };
      }
    },
  };
}

function checkLockfile(): void {
  const faults = lockfileFaults(JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
