import { pageQuery } from '#contracts/paging';
import { decodeCursor, encodeCursor, page } from './paging.ts';

const ids = ['a', 'b', 'c'].map((letter) => `01994f6e-0000-7abc-8def-00000000000${letter}`);
const items = ids.map((id) => ({ id, hidden: 1 }));
const pageOf = (limit: number) =>
  page(
    items,
    limit,
    ({ id }) => ({ id }),
    ({ id }) => id,
  );

test('page: the cursor of a page with the first two of three items is the id of the second item', () => {
  const first = pageOf(2);
  expect(first.items).toEqual([{ id: ids[0] }, { id: ids[1] }]);
  expect(decodeCursor(first.next_cursor ?? '')).toBe(ids[1]);
});

test('page: the last page has no cursor of a next page', () => {
  expect(pageOf(3)).toMatchObject({ items: { length: 3 }, next_cursor: null });
});

test('pageQuery: the default limit is 20, and without a cursor the list starts at the first item', () => {
  expect(pageQuery.parse({ unknown: 'ignored' })).toEqual({ limit: 20 });
  expect(decodeCursor(undefined)).toBeUndefined();
});

test.each(['1', '100'])('pageQuery: limit %s is accepted', (limit) => {
  expect(pageQuery.parse({ limit }).limit).toBe(Number(limit));
});

test.each(['0', '101', '-1', '1.5', '1e1', '03', ' 3', '', 'many', ['1', '2']])('pageQuery: limit %j is refused', (limit) => {
  expect(pageQuery.safeParse({ limit }).success).toBe(false);
});

const cursor = encodeCursor(ids[0] ?? '');
test.each([
  ['empty text', ''],
  ['text that is not base64url', '%%%'],
  ['another encoded value', Buffer.from('42').toString('base64url')],
  ['an id with one more character', Buffer.from(`${ids[0]}'`).toString('base64url')],
  ['an id in capital letters', encodeCursor((ids[0] ?? '').toUpperCase())],
  ['a cursor with padding', `${cursor}=`],
  ['a cursor that is given twice', [cursor, cursor]],
])('pageQuery: %s is refused as a cursor', (_, bad) => {
  expect(pageQuery.safeParse({ cursor: bad }).success).toBe(false);
  if (typeof bad === 'string') expect(() => decodeCursor(bad)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
});
