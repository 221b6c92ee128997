import { formatTraceparent, nextHop, parseTraceparent } from './traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('traceparent: a valid one is read and written back', () => {
  const position = parseTraceparent(`00-${TRACE}-${SPAN}-01`);
  expect(position).toEqual({ traceId: TRACE, spanId: SPAN, flags: '01' });
  expect(formatTraceparent(position!)).toBe(`00-${TRACE}-${SPAN}-01`);
});

test('traceparent: a later version with further fields is read', () => {
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-00-more`)).toEqual({ traceId: TRACE, spanId: SPAN, flags: '00' });
});

test.each([
  ['is missing', undefined],
  ['is empty', ''],
  ['has capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['has a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['has a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['has a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['has the forbidden version ff', `ff-${TRACE}-${SPAN}-01`],
  ['has version 00 and further fields', `00-${TRACE}-${SPAN}-01-more`],
  ['was sent twice', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ['has a quote', `00-${TRACE}-${SPAN}-0"`],
])('traceparent: it is ignored if it %s', (_how, header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test('traceparent: the next hop has the same trace and a new span', () => {
  const next = nextHop({ traceId: TRACE, spanId: SPAN, flags: '01' });
  expect(next).toMatchObject({ traceId: TRACE, flags: '01' });
  expect(next.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(next.spanId).not.toBe(SPAN);
});
