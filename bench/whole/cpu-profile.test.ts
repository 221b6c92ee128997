import { type CpuProfile, splitProfile } from './cpu-profile.ts';

const node = (id: number, url: string, functionName = 'f', children: number[] = []) => ({
  ...{ id, callFrame: { functionName, url }, children },
});

const profile: CpuProfile = {
  nodes: [
    node(1, '', '(root)', [2, 3, 6]),
    node(2, '', '(idle)'),
    node(3, 'file:///dist/send.js', 'send', [4]),
    node(4, 'file:///dist/ticket-pdf.js', 'ticketPdf', [5, 7]),
    node(5, 'node:zlib', 'deflateSync'),
    node(6, 'node:net', 'write'),
    node(7, 'file:///node_modules/uqr/index.mjs', 'encode'),
  ],
  startTime: 1000,
  samples: [5, 7, 3, 6, 2, 5],
  timeDeltas: [100, 10, 20, 30, 40, 50],
};
const rules = [
  ['waiting', '(idle)'],
  ['PDF', '/ticket-pdf'],
  ['QR codes', '/uqr/'],
] as const;

test('a frame without a rule belongs to its caller, and a frame with a rule to its own part; the rest has no rule', () => {
  const split = splitProfile(profile, rules, 0, Infinity);
  expect(Object.fromEntries(split)).toEqual({ PDF: 10, 'QR codes': 20, 'rest of Node': 30 + 40, waiting: 50 });
});

test('only the samples between the two moments count', () => {
  // The samples are at 1100, 1110, 1130, 1160, 1200 and 1250 µs.
  expect(Object.fromEntries(splitProfile(profile, rules, 1110, 1160))).toEqual({ 'QR codes': 20, 'rest of Node': 30 });
});
