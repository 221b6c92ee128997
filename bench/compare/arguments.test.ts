import { readArguments, USAGE, WrongUsage } from './arguments.ts';

test('arguments: with only a revision, the working tree is compared with it in six pairs of all benchmarks that old commits have', () => {
  const only = ['purchase', 'queue', 'notifications', 'loader'];
  expect(readArguments(['16a3242'])).toEqual({ old: '16a3242', new: undefined, only, pairs: 6 });
});

test('arguments: every option is read, and benchmarks run in a fixed order, not in the order of --only', () => {
  const options = { old: 'main~3', new: 'HEAD', only: ['purchase', 'queue', 'loader', 'whole'], pairs: 2 };
  const args = ['--only', 'queue,whole,purchase', 'main~3', '--only', 'loader', '--new', 'HEAD', '--pairs', '2'];
  expect(readArguments(args)).toEqual(options);
});

test('arguments: --help is accepted without a revision', () => {
  expect(readArguments(['--help'])).toBe('help');
});

test.each([
  { problem: 'no revision', args: [], expectedMessage: 'OLD is missing.' },
  { problem: 'two revisions', args: ['a', 'b'], expectedMessage: 'One revision is expected, not also b.' },
  {
    problem: 'an unknown benchmark',
    args: ['a', '--only', 'queue,tickets'],
    expectedMessage: 'There is no benchmark "tickets".',
  },
  { problem: 'an unknown option', args: ['a', '--quick'], expectedMessage: "Unknown option '--quick'" },
  { problem: 'an option without its value', args: ['a', '--pairs'], expectedMessage: "'--pairs <value>' argument missing" },
  { problem: 'no pairs', args: ['a', '--pairs', '0'], expectedMessage: '--pairs takes a whole number from 1 to 50.' },
  {
    problem: 'a fraction of a pair',
    args: ['a', '--pairs', '1.5'],
    expectedMessage: '--pairs takes a whole number from 1 to 50.',
  },
  { problem: 'a word for pairs', args: ['a', '--pairs', 'six'], expectedMessage: '--pairs takes a whole number from 1 to 50.' },
])('arguments: $problem is wrong usage', ({ args, expectedMessage }) => {
  expect(() => readArguments(args)).toThrow(WrongUsage);
  expect(() => readArguments(args)).toThrow(expectedMessage);
});

test('arguments: the help text names every option and exit code', () => {
  for (const words of ['OLD', '--new REV', '--only', '--pairs N', '--help', 'Exit code: 0', '1 a median', '2 wrong'])
    expect(USAGE).toContain(words);
});
