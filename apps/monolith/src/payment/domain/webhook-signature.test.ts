import { isFresh, parseSignatureHeader } from './webhook-signature.ts';

const a = 'a'.repeat(64);
const b = '0'.repeat(64);

test.each([
  ['one signature', `t=1763450000,v1=${a}`, [a]],
  ['two signatures, as during a change of the secret', `t=1763450000,v1=${a},v1=${b}`, [a, b]],
  ['blanks and another order of the parts', ` v1=${a} , t=1763450000`, [a]],
  ['an additional scheme that we do not use', `t=1763450000,v0=${b},v1=${a}`, [a]],
  ['a malformed signature and a valid one', `t=1763450000,v1=xyz,v1=${a}`, [a]],
])('a signature header with %s is parsed', (_, header, v1) => {
  expect(parseSignatureHeader(header)).toEqual({ timestamp: 1_763_450_000, v1 });
});

test.each([
  ['no content', ''],
  ['no time', `v1=${a}`],
  ['two times', `t=1763450000,t=1763450001,v1=${a}`],
  ['a time that is not a number', `t=now,v1=${a}`],
  ['a negative time', `t=-1,v1=${a}`],
  ['no signature', 't=1763450000'],
  ['only a scheme that we do not use', `t=1763450000,v0=${a}`],
  ['a signature that is too short', `t=1763450000,v1=${a.slice(1)}`],
  ['upper-case hex digits', `t=1763450000,v1=${a.toUpperCase()}`],
])('a signature header with %s is refused', (_, header) => {
  expect(parseSignatureHeader(header)).toBeUndefined();
});

test.each([
  [0, true],
  [300, true],
  [301, false],
  [-300, true],
  [-301, false],
])('for a signature of %d s ago, isFresh is %s', (ageSeconds, fresh) => {
  expect(isFresh(1_763_450_000 - ageSeconds, 1_763_450_000_000)).toBe(fresh);
});
