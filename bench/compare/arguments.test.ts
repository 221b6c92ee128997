import { readArguments, USAGE, WrongUsage } from './arguments.ts';

test('arguments: a revision alone compares the working tree in all benchmarks, six pairs', () => {
  const only = ['purchase', 'queue', 'notifications', 'loader'];
  expect(readArguments(['16a3242'])).toEqual({ old: '16a3242', new: undefined, only, pairs: 6 });
});

test('arguments: every option is read, and benchmarks run in a fixed order', () => {
  const options = { old: 'main~3', new: 'HEAD', only: ['purchase', 'queue', 'loader'], pairs: 2 };
  const args = ['--only', 'queue,purchase', 'main~3', '--only', 'loader', '--new', 'HEAD', '--pairs', '2'];
  expect(readArguments(args)).toEqual(options);
});

test('arguments: --help needs no revision', () => {
  expect(readArguments(['--help'])).toBe('help');
});

test.each([
  { why: 'no revision', args: [], says: 'OLD is missing.' },
  { why: 'two revisions', args: ['a', 'b'], says: 'One revision is expected, not also b.' },
  { why: 'an unknown benchmark', args: ['a', '--only', 'queue,tickets'], says: 'There is no benchmark "tickets".' },
  { why: 'an unknown option', args: ['a', '--quick'], says: "Unknown option '--quick'" },
  { why: 'an option without its value', args: ['a', '--pairs'], says: "'--pairs <value>' argument missing" },
  { why: 'no pairs', args: ['a', '--pairs', '0'], says: '--pairs takes a whole number from 1 to 50.' },
  { why: 'half a pair', args: ['a', '--pairs', '1.5'], says: '--pairs takes a whole number from 1 to 50.' },
  { why: 'a word for pairs', args: ['a', '--pairs', 'six'], says: '--pairs takes a whole number from 1 to 50.' },
])('arguments: $why is wrong usage', ({ args, says }) => {
  expect(() => readArguments(args)).toThrow(WrongUsage);
  expect(() => readArguments(args)).toThrow(says);
});

test('the help text names every option and exit code', () => {
  for (const words of ['OLD', '--new REV', '--only', '--pairs N', '--help', 'Exit code: 0', '1 a median', '2 wrong'])
    expect(USAGE).toContain(words);
});
