import type { StepResult } from './check-steps.ts';

/** What we read of the report that Jest writes with --json. */
export interface JestReport {
  numPassedTests: number;
  numFailedTests: number;
  /** Files that broke before a test of them ran, or left something open at their end. */
  numRuntimeErrorTestSuites: number;
  testResults: { assertionResults: { fullName: string; status: string }[] }[];
}

/** What Jest says, and goes on to exit with 0, when something kept one of its processes alive. */
const leaks = [/A worker process has failed to exit gracefully/, /Jest did not exit \w+ seconds? after the test run/];

/** Jest's run as one step. Each test that passed or failed counts; one that did not run is named, and has not passed. */
export function summarize(exitCode: number, output: string, report: JestReport | undefined): StepResult {
  const shown = output.replaceAll(/^PASS .*\n/gm, '');
  if (!report) return { passed: 0, failed: 1, output: shown };
  const passed = report.numPassedTests;
  const notRun = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName);
  const leaking = leaks.filter((leak) => leak.test(output)).length;
  const counted = report.numFailedTests + report.numRuntimeErrorTestSuites + leaking;
  // Jest may also end badly with every test green: a teardown that failed, a server that would not stop.
  const failed = exitCode === 0 ? counted : Math.max(counted, 1);
  const note = [
    `${passed} passed`,
    failed > 0 ? `${failed} failed` : '',
    notRun.length > 0 ? `${notRun.length} not run` : '',
    leaking > 0 ? 'Jest was kept from ending by itself' : '',
  ];
  return { passed, failed, notRun, note: note.filter(Boolean).join(', '), output: shown };
}
