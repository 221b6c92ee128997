import path from 'node:path';
import { ROOT } from './build.ts';
import { type JestReport, summarizeJestRun } from './jest-report.ts';

const report = (statuses: string[], brokenFiles = 0): JestReport => ({
  numPassedTests: statuses.filter((status) => status === 'passed').length,
  numFailedTests: statuses.filter((status) => status === 'failed').length,
  numRuntimeErrorTestSuites: brokenFiles,
  testResults: [fileReport('a.test.ts', 1_500, statuses)],
});

const fileReport = (name: string, durationMs: number, statuses: string[] = []): JestReport['testResults'][number] => ({
  name: path.join(ROOT, name),
  startTime: 10_000,
  endTime: 10_000 + durationMs,
  assertionResults: statuses.map((status, n) => ({ status, fullName: `test ${n}` })),
});

test('of a successful Jest run the passed tests are counted, and the PASS lines are removed from the output', () => {
  expect(summarizeJestRun(0, 'PASS a.test.ts\nsome words\n', report(['passed', 'passed']))).toEqual({
    passed: 2,
    failed: 0,
    notRun: [],
    note: '2 passed',
    details: ['  1.5 s a.test.ts'],
    output: 'some words\n',
  });
});

test('of a Jest run the ten slowest files are listed, the slowest first', () => {
  const testResults = Array.from({ length: 12 }, (_, n) => fileReport(`tests/${n}.test.ts`, n * 1_000 + 40));
  const { details } = summarizeJestRun(0, '', { ...report([]), testResults });
  expect(details).toHaveLength(10);
  expect(details?.slice(0, 3)).toEqual([' 11.0 s tests/11.test.ts', ' 10.0 s tests/10.test.ts', '  9.0 s tests/9.test.ts']);
});

test.each(['pending', 'todo', 'skipped', 'disabled'])(
  'a test with the status %s is listed as not run and not counted as passed',
  (status) => {
    expect(summarizeJestRun(0, '', report(['passed', status]))).toMatchObject({
      passed: 1,
      failed: 0,
      notRun: ['test 1'],
      note: '1 passed, 1 not run',
    });
  },
);

test('failed tests and test files that could not run are counted as failures', () => {
  expect(summarizeJestRun(1, '', report(['passed', 'failed'], 2))).toMatchObject({
    passed: 1,
    failed: 3,
    note: '1 passed, 3 failed',
  });
});

test('a Jest run with a non-zero exit code is a failure even if all tests passed', () => {
  expect(summarizeJestRun(1, '', report(['passed'])).failed).toBe(1);
});

test('a Jest run that wrote no report is a failure', () => {
  expect(summarizeJestRun(0, 'words', undefined)).toEqual({ passed: 0, failed: 1, output: 'words' });
});

test.each([
  'A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests leaking',
  'Jest did not exit one second after the test run has completed.',
])('a Jest run that does not end by itself is a failure: %s', (words) => {
  const { failed, note } = summarizeJestRun(0, `PASS a.test.ts\n${words}\n`, report(['passed']));
  expect([failed, note]).toEqual([1, '1 passed, 1 failed, Jest did not end by itself']);
});
