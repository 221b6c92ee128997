import { isFresh, parseSignatureHeader } from './webhook-signature.ts';

const a = 'a'.repeat(64);
const b = '0'.repeat(64);

test.each([
  ['one signature', `t=1763450000,v1=${a}`, [a]],
  ['two of them while a secret is being changed', `t=1763450000,v1=${a},v1=${b}`, [a, b]],
  ['blanks and another order', ` v1=${a} , t=1763450000`, [a]],
  ['a scheme we do not use beside ours', `t=1763450000,v0=${b},v1=${a}`, [a]],
  ['a broken signature beside a sound one', `t=1763450000,v1=xyz,v1=${a}`, [a]],
])('%s is read', (_, header, v1) => {
  expect(parseSignatureHeader(header)).toEqual({ timestamp: 1_763_450_000, v1 });
});

test.each([
  ['an empty header', ''],
  ['no time', `v1=${a}`],
  ['two times', `t=1763450000,t=1763450001,v1=${a}`],
  ['a time that is no number', `t=now,v1=${a}`],
  ['a negative time', `t=-1,v1=${a}`],
  ['no signature', 't=1763450000'],
  ['only another scheme', `t=1763450000,v0=${a}`],
  ['a signature that is too short', `t=1763450000,v1=${a.slice(1)}`],
  ['capital hex', `t=1763450000,v1=${a.toUpperCase()}`],
])('%s is refused', (_, header) => {
  expect(parseSignatureHeader(header)).toBeUndefined();
});

test.each([
  [0, true],
  [300, true],
  [301, false],
  [-300, true],
  [-301, false],
])('signed %d s ago: fresh is %s', (ageSeconds, fresh) => {
  expect(isFresh(1_763_450_000 - ageSeconds, 1_763_450_000_000)).toBe(fresh);
});
