import { type JestReport, summarize } from './jest-report.ts';

const report = (statuses: string[], brokenFiles = 0): JestReport => ({
  numPassedTests: statuses.filter((status) => status === 'passed').length,
  numFailedTests: statuses.filter((status) => status === 'failed').length,
  numRuntimeErrorTestSuites: brokenFiles,
  testResults: [{ assertionResults: statuses.map((status, n) => ({ status, fullName: `test ${n}` })) }],
});

test('passed tests and the note', () => {
  expect(summarize(0, 'PASS a.test.ts\nsome words\n', report(['passed', 'passed']))).toEqual({
    passed: 2,
    failed: 0,
    notRun: [],
    note: '2 passed',
    output: 'some words\n',
  });
});

test.each(['pending', 'todo', 'skipped', 'disabled'])('a test that is %s is named as not run and has not passed', (status) => {
  expect(summarize(0, '', report(['passed', status]))).toMatchObject({
    passed: 1,
    failed: 0,
    notRun: ['test 1'],
    note: '1 passed, 1 not run',
  });
});

test('failed tests and files that broke are failures', () => {
  expect(summarize(1, '', report(['passed', 'failed'], 2))).toMatchObject({ passed: 1, failed: 3, note: '1 passed, 3 failed' });
});

test('a bad end with every test green is a failure', () => {
  expect(summarize(1, '', report(['passed'])).failed).toBe(1);
});

test('no report is a failure', () => {
  expect(summarize(0, 'words', undefined)).toEqual({ passed: 0, failed: 1, output: 'words' });
});

test.each([
  'A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests leaking',
  'Jest did not exit one second after the test run has completed.',
])('a Jest that does not end by itself is a failure: %s', (words) => {
  const { failed, note } = summarize(0, `PASS a.test.ts\n${words}\n`, report(['passed']));
  expect([failed, note]).toEqual([1, '1 passed, 1 failed, Jest was kept from ending by itself']);
});
