import { sourceNamed } from '../testing/sources.ts';
import type { IdOrder } from './event.ts';
import { readEvents, type Candidate } from './reading-events.ts';
import { askFrom, sift } from './sifting.ts';

const of = (...idsGiven: (number | string)[]): Candidate[] => idsGiven.map((id) => ({ id, payload: { n: id } }));

function sifted(candidates: Candidate[], cursor?: string, more: { overlap?: number; ids?: IdOrder; limit?: number } = {}) {
  const source = sourceNamed('any', more);
  const { to, events, unasked, bad, repeated, gaps } = sift(
    source,
    cursor,
    readEvents(candidates, source.ids),
    more.limit ?? 1000,
  );
  const idsOf = (list: readonly { id: string | undefined }[]) => list.map(({ id }) => id).join();
  return { to, events: idsOf(events), unasked: idsOf(unasked), bad: bad.map(({ code, id }) => `${code} ${id}`), repeated, gaps };
}

test.each<[string, ReturnType<typeof sifted>, Partial<ReturnType<typeof sifted>>]>([
  ['in order', sifted(of(1, 2, 3)), { to: '3', events: '1,2,3', gaps: 0 }],
  ['compared as numbers', sifted(of(9, 10, 100), '8'), { to: '100', events: '9,10,100', gaps: 89 }],
  ['not ascending', sifted(of(12, 11, 13), '10'), { to: '13', events: '11,12,13', gaps: 0 }],
  ['at or below the cursor', sifted(of(9, 10, 11), '10'), { to: '11', events: '11', unasked: '9,10' }],
  [
    'at or below the cursor, but asked for',
    sifted(of(7, 8, 11), '10', { overlap: 3 }),
    { events: '8,11', unasked: '7', to: '11' },
  ],
  ['a leap over all ids there are', sifted(of(1, '9223372036854775807')), { to: '9223372036854775807', gaps: 1e12 }],
  ['nothing', sifted([], '10'), { to: '10', events: '' }],
  ['twice the same', sifted(of(1, 2, 2)), { to: '2', events: '1,2', repeated: 1, bad: [] }],
  [
    'twice, changed',
    sifted([...of(1, 2), { id: 2, payload: { n: 'else' } }]),
    { to: '2', events: '1,2', bad: ['EVENT_IMMUTABILITY_VIOLATION 2'] },
  ],
  ['more than asked for', sifted(of(4, 3, 2, 1), undefined, { limit: 2 }), { to: '2', events: '1,2' }],
  [
    'more bad ones than asked for: the lowest, and the cursor passes over no other',
    sifted(
      [4, 3, 2, 1].map((id) => ({ id, payload: 7 })),
      undefined,
      { limit: 2 },
    ),
    { to: '2', events: '', bad: ['EVENT_INVALID 2', 'EVENT_INVALID 1'] },
  ],
  [
    'good and bad ones, together more than asked for',
    sifted([...of(1, 3), { id: 2, payload: 7 }, { id: 4, payload: 7 }], undefined, { limit: 2 }),
    { to: '2', events: '1', bad: ['EVENT_INVALID 2'] },
  ],
  [
    'more without an id than asked for',
    sifted([...of(1), ...[7, 8, 9].map((payload) => ({ id: null, payload }))], undefined, { limit: 2 }),
    { to: '1', events: '1', bad: ['EVENT_INVALID undefined', 'EVENT_INVALID undefined'] },
  ],
  ['a bad one at the end', sifted([...of(1), { id: 2, payload: 7 }]), { to: '2', events: '1', bad: ['EVENT_INVALID 2'] }],
  [
    'a bad one without an id',
    sifted([...of(1), { id: -2, payload: {} }]),
    { to: '1', events: '1', bad: ['EVENT_INVALID undefined'] },
  ],
  ['listed', sifted(of('evt_b', 'evt_a'), undefined, { ids: 'listed' }), { to: 'evt_a', events: 'evt_b,evt_a', gaps: 0 }],
  [
    'listed, a bad one in between',
    sifted([...of('evt_b'), { id: 'evt_x', payload: null }, ...of('evt_a')], undefined, { ids: 'listed' }),
    { to: 'evt_a', events: 'evt_b,evt_a', bad: ['EVENT_INVALID evt_x'] },
  ],
])('%s', (_what, found, wanted) => {
  expect(found).toMatchObject(wanted);
});

test.each([
  [0, '17', '17'],
  [5, '17', '12'],
  [5, '5', undefined],
  [5, undefined, undefined],
])('with an overlap of %s and the cursor at %s it asks from %s', (overlap, cursor, from) => {
  expect(askFrom(sourceNamed('any', { overlap }), cursor)).toBe(from);
});

const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) });

test.each<[string, unknown, unknown]>([
  ['an id that is 0', 0, {}],
  ['an id that is no whole number', 1.5, {}],
  ['a number JSON cannot carry', 2 ** 53, {}],
  ['an id beyond 2^63', '9223372036854775808', {}],
  ['an id with leading zeros', '007', {}],
  ['an id that is neither number nor text', { id: 1 }, {}],
  ['no id', undefined, {}],
  ['a payload that is a list', 1, [1]],
  ['a payload that is text', 1, 'x'],
  ['no payload', 1, undefined],
  ['a character 0', 1, { a: 'x\0y' }],
  ['half a surrogate pair', 1, { '\ud83d': 1 }],
  ['a payload of a megabyte and more', 1, { a: 'x'.repeat(1024 * 1024) }],
  ['a payload nested too deep', 1, deep(5000)],
])('%s is quarantined', (_what, id, payload) => {
  const { events, bad } = readEvents([{ id, payload }, ...of(2)], 'numbers');
  expect(events.map((event) => event.id)).toEqual(['2']);
  expect(bad).toEqual([expect.objectContaining({ code: 'EVENT_INVALID' })]);
});

test.each<[unknown, object]>([
  [1, {}],
  ['9223372036854775807', { deep: { list: [1, [2]] } }],
  [3, { text: 'a backslash, then what looks like an escape: \\u0000, and a pair: 🎟' }],
])('%s is read', (id, payload) => {
  expect(readEvents([{ id, payload }], 'numbers').bad).toEqual([]);
});
