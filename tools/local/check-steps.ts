import { readFileSync } from 'node:fs';
import path from 'node:path';
import { npmBinary, build, ROOT } from './build.ts';
import { type Lockfile, lockfileFaults } from './lockfile.ts';
import { runCommand } from './run-command.ts';
import { explain } from './trouble.ts';

/** What one step of `npm test` found. */
export interface CheckStepResult {
  passed: number;
  failed: number;
  /** Names of the tests that did not run. */
  notRun?: string[];
  /** A short text that is printed after the step's name. */
  note?: string;
  /** Lines that are printed below the step's name. */
  details?: string[];
  /** The output of the step, printed when something failed. */
  output: string;
}

/** One step of `npm test`: a check, or the run of all tests. */
export interface CheckStep {
  name: string;
  run(signal: AbortSignal): Promise<CheckStepResult>;
}

/** The last lines of `npm test`: the name of each test that did not run, then the numbers of passed, failed and skipped tests. */
export function summaryLines(results: readonly CheckStepResult[]): string[] {
  const sum = (count: 'passed' | 'failed') => results.reduce((total, result) => total + result[count], 0);
  const notRun = results.flatMap((result) => result.notRun ?? []);
  const skipped = notRun.length > 0 ? `, ${notRun.length} skipped` : '';
  return [...notRun.map((name) => `NOT RUN ${name}`), `${sum('passed')} passed, ${sum('failed')} failed${skipped}`];
}

/**
 * Arguments of oxlint. Nested configs are disabled, because a Nest package contains an oxlint config and oxlint would stop at it.
 */
export const LINT_ARGUMENTS = ['--disable-nested-config', 'apps', 'libs', 'tools', 'tests', 'bench', 'jest.config.mjs'];

/**
 * Arguments of prettier. With its cache it reads only files that changed since its last run (2 s instead of 12 s). It compares their
 * contents, not their dates, because a checkout changes dates.
 */
export const FORMAT_ARGUMENTS = [
  '--log-level=warn',
  '--cache',
  '--cache-strategy=content',
  '--cache-location=dist/.prettier-cache',
  '.',
];
/** Lets the compiler check only files that depend on a change since its last run (1 s instead of 12 s). */
const INCREMENTAL = ['--incremental', '--tsBuildInfoFile', 'dist/.types.tsbuildinfo'];

/** The steps that only check (format, lint, types …) and write only their own caches, so that two of them can run at the same time. */
export function staticSteps(): CheckStep[] {
  return [
    check('lockfile', lockfileFault),
    command('types', 'tsc', ['-p', 'tsconfig.json', '--noEmit', ...INCREMENTAL]),
    command('lint', 'oxlint', LINT_ARGUMENTS),
    command('types of the web app', 'tsc', ['-p', 'apps/web/tsconfig.json', '--noEmit']),
    command('format', 'prettier', ['--check', ...FORMAT_ARGUMENTS]),
    command('types of the pure core', 'tsc', ['-p', 'tsconfig.pure.json', '--noEmit']),
    command('dead code', 'knip', ['--no-progress']),
  ];
}

/** The build of the services and the web app as one step. */
export function buildStep(): CheckStep {
  return check('build', async (signal) => {
    try {
      await build({ say: () => undefined, signal });
    } catch (error) {
      signal.throwIfAborted();
      return explain(error);
    }
  });
}

function command(name: string, tool: string, args: string[]): CheckStep {
  return check(name, async (signal) => {
    const { code, output } = await runCommand(npmBinary(tool), args, { cwd: ROOT, signal });
    return code === 0 ? undefined : output;
  });
}

/** A step that counts as one test. It has failed if `findFault` returns a text. */
function check(name: string, findFault: (signal: AbortSignal) => Promise<string | undefined>): CheckStep {
  return {
    name,
    async run(signal) {
      const output = await findFault(signal);
      return { passed: output === undefined ? 1 : 0, failed: output === undefined ? 0 : 1, output: output ?? '' };
    },
  };
}

async function lockfileFault(): Promise<string | undefined> {
  const lockfile = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile;
  return lockfileFaults(lockfile).join('\n') || undefined;
}
