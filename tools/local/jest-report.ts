import type { CheckStepResult } from './check-steps.ts';

/** The fields that we read from the report that Jest writes with --json. */
export interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  /** Test files that failed before their first test, or left a resource open at their end. */
  numRuntimeErrorTestSuites: number;
  testResults: { assertionResults: { fullName: string; status: string }[] }[];
}

/** Jest prints one of these lines, and still exits with 0, if an open resource kept one of its processes alive. */
const leakMessages = [/A worker process has failed to exit gracefully/, /Jest did not exit \w+ seconds? after the test run/];

/**
 * The result of a Jest run as one step of `npm test`. Passed and failed tests are counted; a test that did not run is listed by
 * name.
 */
export function summarizeJestRun(exitCode: number, output: string, report: JestReport | undefined): CheckStepResult {
  const shown = output.replaceAll(/^PASS .*\n/gm, '');
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
  return { passed, failed, notRun, note: note.filter(Boolean).join(', '), output: shown };
}
