import { alertOperators } from './alert-operators.ts';

const at = new Date('2026-12-11T19:45:00Z');
const textOf = (count: number): string => {
  const texts = Array.from({ length: count }, (_, n) => `job ${n + 1}`);
  return alertOperators({ about: 'dead letter', texts }, 'mail', at).text;
};

test('alertOperators: an alert about a single fact has this fact, unchanged, as its text', () => {
  expect(alertOperators({ about: 'breaker x opened', texts: ['x is down'] }, 'webhook', at)).toEqual({
    class: 'alert_operators',
    by: 'webhook',
    about: 'breaker x opened',
    text: 'x is down',
    count: 1,
    at: '2026-12-11T19:45:00.000Z',
  });
});

test('alertOperators: several facts become one alert that lists up to twenty facts and gives the number of further ones', () => {
  expect(textOf(2)).toBe('2 times: job 1; job 2');
  expect(textOf(20)).toMatch(/^20 times: job 1; .*; job 20$/);
  expect(textOf(21)).toMatch(/^21 times: job 1; .*; job 20; and 1 more$/);
  expect(textOf(500)).toMatch(/; job 20; and 480 more$/);
});
