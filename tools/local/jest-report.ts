import path from 'node:path';
import { ROOT } from './build.ts';
import type { CheckStepResult } from './check-steps.ts';

/** The fields that we read from the report that Jest writes with --json. */
export interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  /** Test files that failed before their first test, or left a resource open at their end. */
  numRuntimeErrorTestSuites: number;
  testResults: JestFileReport[];
}

interface JestFileReport {
  /** The path of the test file. */
  name: string;
  /** Milliseconds since 1970. */
  startTime: number;
  endTime: number;
  assertionResults: { fullName: string; status: string }[];
}

/** Jest prints one of these lines, and still exits with 0, if an open resource kept one of its processes alive. */
const leakMessages = [/A worker process has failed to exit gracefully/, /Jest did not exit \w+ seconds? after the test run/];

/**
 * The result of a Jest run as one step of `npm test`. Passed and failed tests are counted; a test that did not run is listed by
 * name.
 */
export function summarizeJestRun(exitCode: number, output: string, report: JestReport | undefined): CheckStepResult {
  const shown = output.replaceAll(/^(PASS|FAILED) .*\n/gm, '');
  if (!report) return { passed: 0, failed: 1, output: shown };
  const passed = report.numPassedTests;
  const notRun = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName);
  const leaks = leakMessages.filter((message) => message.test(output)).length;
  const failures = report.numFailedTests + report.numRuntimeErrorTestSuites + leaks;
  // Jest can exit with an error although all tests passed: a teardown failed, or a server did not stop.
  const failed = exitCode === 0 ? failures : Math.max(failures, 1);
  const note = [
    `${passed} passed`,
    failed > 0 ? `${failed} failed` : '',
    notRun.length > 0 ? `${notRun.length} not run` : '',
    leaks > 0 ? 'Jest did not end by itself' : '',
  ];
  const details = slowestFiles(report.testResults);
  return { passed, failed, notRun, note: note.filter(Boolean).join(', '), details, output: shown };
}

/** The ten test files that took longest, with their seconds. */
function slowestFiles(files: readonly JestFileReport[]): string[] {
  const slowest = files
    .map(({ name, startTime, endTime }) => ({ name: path.relative(ROOT, name), seconds: (endTime - startTime) / 1_000 }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, 10);
  return slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(5)} s ${name}`);
}
