import { sourceNamed } from '../testing/sources.ts';
import type { IdOrder } from './event.ts';
import { readEvents, type UncheckedEntry } from './reading-events.ts';
import { fetchStart, normalizeAnswer } from './normalize-answer.ts';

const withIds = (...idsGiven: (number | string)[]): UncheckedEntry[] => idsGiven.map((id) => ({ id, payload: { n: id } }));

function normalized(
  candidates: UncheckedEntry[],
  cursor?: string,
  more: { overlap?: number; ids?: IdOrder; limit?: number } = {},
) {
  const source = sourceNamed('any', more);
  const { to, events, unrequested, bad, duplicates, gaps } = normalizeAnswer(
    source,
    cursor,
    readEvents(candidates, source.ids),
    more.limit ?? 1000,
  );
  const idsOf = (list: readonly { id: string | undefined }[]) => list.map(({ id }) => id).join();
  return {
    to,
    events: idsOf(events),
    unrequested: idsOf(unrequested),
    bad: bad.map(({ code, id }) => `${code} ${id}`),
    duplicates,
    gaps,
  };
}

test.each<[string, ReturnType<typeof normalized>, Partial<ReturnType<typeof normalized>>]>([
  ['ascending ids are kept as they are', normalized(withIds(1, 2, 3)), { to: '3', events: '1,2,3', gaps: 0 }],
  ['ids are compared as numbers, not as text', normalized(withIds(9, 10, 100), '8'), { to: '100', events: '9,10,100', gaps: 89 }],
  ['ids that do not ascend are sorted', normalized(withIds(12, 11, 13), '10'), { to: '13', events: '11,12,13', gaps: 0 }],
  [
    'ids at or below the cursor are unrequested',
    normalized(withIds(9, 10, 11), '10'),
    { to: '11', events: '11', unrequested: '9,10' },
  ],
  [
    'ids below the cursor, but within the overlap, are events',
    normalized(withIds(7, 8, 11), '10', { overlap: 3 }),
    { events: '8,11', unrequested: '7', to: '11' },
  ],
  [
    'a jump from id 1 to the greatest id counts as 1e12 gaps',
    normalized(withIds(1, '9223372036854775807')),
    { to: '9223372036854775807', gaps: 1e12 },
  ],
  ['an empty answer leaves the cursor', normalized([], '10'), { to: '10', events: '' }],
  ['the same event twice is a duplicate', normalized(withIds(1, 2, 2)), { to: '2', events: '1,2', duplicates: 1, bad: [] }],
  [
    'the same id twice with different payloads is a violation; the first event stays',
    normalized([...withIds(1, 2), { id: 2, payload: { n: 'else' } }]),
    { to: '2', events: '1,2', bad: ['EVENT_IMMUTABILITY_VIOLATION 2'] },
  ],
  [
    'of more events than the limit, those with the lowest ids are kept',
    normalized(withIds(4, 3, 2, 1), undefined, { limit: 2 }),
    { to: '2', events: '1,2' },
  ],
  [
    'of more bad events than the limit, those with the lowest ids are kept, and the cursor skips none',
    normalized(
      [4, 3, 2, 1].map((id) => ({ id, payload: 7 })),
      undefined,
      { limit: 2 },
    ),
    { to: '2', events: '', bad: ['EVENT_INVALID 2', 'EVENT_INVALID 1'] },
  ],
  [
    'good and bad events count together for the limit',
    normalized([...withIds(1, 3), { id: 2, payload: 7 }, { id: 4, payload: 7 }], undefined, { limit: 2 }),
    { to: '2', events: '1', bad: ['EVENT_INVALID 2'] },
  ],
  [
    'of more entries without an id than the limit, as many as the limit are kept',
    normalized([...withIds(1), ...[7, 8, 9].map((payload) => ({ id: null, payload }))], undefined, { limit: 2 }),
    { to: '1', events: '1', bad: ['EVENT_INVALID undefined', 'EVENT_INVALID undefined'] },
  ],
  [
    'a bad event at the end moves the cursor',
    normalized([...withIds(1), { id: 2, payload: 7 }]),
    { to: '2', events: '1', bad: ['EVENT_INVALID 2'] },
  ],
  [
    'a bad event without a valid id does not move the cursor',
    normalized([...withIds(1), { id: -2, payload: {} }]),
    { to: '1', events: '1', bad: ['EVENT_INVALID undefined'] },
  ],
  [
    'listed ids: the cursor is the last id in the answer’s order',
    normalized(withIds('evt_b', 'evt_a'), undefined, { ids: 'listed' }),
    { to: 'evt_a', events: 'evt_b,evt_a', gaps: 0 },
  ],
  [
    'listed ids: a bad event between two good ones is separated',
    normalized([...withIds('evt_b'), { id: 'evt_x', payload: null }, ...withIds('evt_a')], undefined, { ids: 'listed' }),
    { to: 'evt_a', events: 'evt_b,evt_a', bad: ['EVENT_INVALID evt_x'] },
  ],
])('the answer of a source becomes ordered events and a new cursor: %s', (_case, result, expected) => {
  expect(result).toMatchObject(expected);
});

test.each([
  [0, '17', '17'],
  [5, '17', '12'],
  [5, '5', undefined],
  [5, undefined, undefined],
])('with an overlap of %s ids and the cursor at id %s the fetch starts after id %s', (overlap, cursor, from) => {
  expect(fetchStart(sourceNamed('any', { overlap }), cursor)).toBe(from);
});

const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) });

test.each<[string, unknown, unknown]>([
  ['an id that is 0', 0, {}],
  ['an id that is no whole number', 1.5, {}],
  ['an id that JSON numbers cannot represent exactly', 2 ** 53, {}],
  ['an id above 2^63', '9223372036854775808', {}],
  ['an id with leading zeros', '007', {}],
  ['an id that is neither number nor text', { id: 1 }, {}],
  ['no id', undefined, {}],
  ['a payload that is a list', 1, [1]],
  ['a payload that is text', 1, 'x'],
  ['no payload', 1, undefined],
  ['a payload with a NUL character', 1, { a: 'x\0y' }],
  ['a payload with half a surrogate pair', 1, { '\ud83d': 1 }],
  ['a payload of more than a megabyte', 1, { a: 'x'.repeat(1024 * 1024) }],
  ['a payload nested too deep', 1, deep(5000)],
])('an entry with %s is quarantined, and the next event is read', (_case, id, payload) => {
  const { events, bad } = readEvents([{ id, payload }, ...withIds(2)], 'numbers');
  expect(events.map((event) => event.id)).toEqual(['2']);
  expect(bad).toEqual([expect.objectContaining({ code: 'EVENT_INVALID' })]);
});

test.each<[string, unknown, object]>([
  ['a small number as id', 1, {}],
  ['the greatest id, sent as text', '9223372036854775807', { deep: { list: [1, [2]] } }],
  ['text that looks like an escape of NUL, and a surrogate pair', 3, { text: 'not an escape: \\u0000, and a pair: 🎟' }],
])('an entry with %s is read as a valid event', (_case, id, payload) => {
  expect(readEvents([{ id, payload }], 'numbers').bad).toEqual([]);
});
