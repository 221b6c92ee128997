import { summaryLines } from './check-steps.ts';

test('summaryLines: the last line has the numbers of passed and failed tests', () => {
  const results = [
    { passed: 1, failed: 0, output: '' },
    { passed: 2, failed: 3, output: '', notRun: [] },
  ];
  expect(summaryLines(results)).toEqual(['3 passed, 3 failed']);
});

test('summaryLines: a test that did not run is listed by name and counted as skipped', () => {
  const results = [
    { passed: 1, failed: 0, output: '' },
    { passed: 2, failed: 0, output: '', notRun: ['seats are sold once', 'a key has one answer'] },
  ];
  expect(summaryLines(results)).toEqual([
    'NOT RUN seats are sold once',
    'NOT RUN a key has one answer',
    '3 passed, 0 failed, 2 skipped',
  ]);
});
