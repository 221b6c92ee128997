import type { RequestedPlaces } from '#contracts/quotas';
import type { FreePlace } from '../../purchase/quota-places.api.ts';
import { planPlaces, plannedPlacesView } from './plan-places.ts';

/** Sectors around the pitch, each with its capacity and how many of its seats are free; rows of ten. */
const stadium = (...free: readonly (readonly [name: string, capacity: number, free: number])[]) => ({
  sectors: free.map(([id, capacity]) => ({ id, capacity, wheelchair: id.startsWith('W') })),
  free: free.flatMap(([sectorId, , count]) =>
    Array.from({ length: count }, (_, index): FreePlace => ({
      seatId: `${sectorId}${index}`,
      sectorId,
      row: String(Math.floor(index / 10) + 1),
      number: (index % 10) + 1,
      rowIndex: Math.floor(index / 10),
      rank: index,
    })),
  ),
});

const planned = (requested: RequestedPlaces, { free, sectors }: ReturnType<typeof stadium>): Record<string, number> =>
  Object.fromEntries(
    planPlaces(requested, free, sectors, new Map([['A100', 'A']])).map(({ sectorId, taken }) => [sectorId, taken.length]),
  );

const whole = stadium(['A', 100, 100], ['B', 60, 60], ['C', 40, 40], ['W', 30, 30]);

test.each<[string, RequestedPlaces, ReturnType<typeof stadium>, Record<string, number>]>([
  ['a quantity of a sector', [{ sector_id: 'B', quantity: 25 }], whole, { B: 25 }],
  [
    'two quantities of a sector add up',
    [
      { sector_id: 'B', quantity: 25 },
      { sector_id: 'B', quantity: 5 },
    ],
    whole,
    { B: 30 },
  ],
  ['named places', [{ seat_ids: ['A3', 'C0'] }], whole, { A: 1, C: 1 }],
  [
    'named places do not count for the quantity of their sector',
    [{ sector_id: 'C', quantity: 39 }, { seat_ids: ['C0'] }],
    whole,
    { C: 40 },
  ],
  ['anywhere: the sector that fits exactly', [{ quantity: 60 }], whole, { B: 60 }],
  ['anywhere: the smallest sector that has enough', [{ quantity: 45 }], whole, { B: 45 }],
  ['anywhere: the largest sector whole, and the rest where it fits best', [{ quantity: 130 }], whole, { A: 100, C: 30 }],
  [
    'anywhere: a sector of its own, even if a sector with other fans fits better',
    [{ quantity: 45 }],
    stadium(['A', 100, 100], ['B', 60, 46]),
    { A: 45 },
  ],
  [
    'anywhere: of equal sectors the one beside the taken ones',
    [{ sector_id: 'B', quantity: 60 }, { quantity: 100 }],
    stadium(['A', 100, 100], ['X', 50, 50], ['B', 60, 60], ['C', 100, 100], ['D', 100, 100]),
    { B: 60, C: 100 },
  ],
  ['anywhere: not the sector for people in wheelchairs', [{ quantity: 200 }], whole, { A: 100, B: 60, C: 40 }],
])('%s', (_what, requested, place, sectors) => {
  expect(planned(requested, place)).toEqual(sectors);
});

test.each<[string, RequestedPlaces, object]>([
  ['a quantity of a sector', [{ sector_id: 'C', quantity: 41 }], { sector_id: 'C', available: 40 }],
  ['a quantity after named places', [{ seat_ids: ['C0'] }, { sector_id: 'C', quantity: 40 }], { sector_id: 'C', available: 39 }],
  ['named places that are not free', [{ seat_ids: ['A1', 'A100'] }], { sector_id: 'A', available: 100, seat_ids: ['A100'] }],
  ['a quantity of any sectors: those for wheelchairs do not count', [{ quantity: 201 }], { available: 200 }],
])('more than are free is QUOTA_EXCEEDED: %s', (_what, requested, data) => {
  expect(() => planned(requested, whole)).toThrow(expect.objectContaining({ code: 'QUOTA_EXCEEDED', data }) as Error);
});

test('the refusal of named places says how many of them are not free, not how many others are', () => {
  expect(() => planned([{ seat_ids: ['A1', 'A100'] }], whole)).toThrow('Named places that are not free: 1.');
});

test('a sector or a place of another match is NOT_FOUND', () => {
  expect(() => planned([{ seat_ids: ['A1', 'Z1'] }], whole)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }) as Error);
  expect(() => planned([{ sector_id: 'Z', quantity: 1 }], whole)).toThrow(
    expect.objectContaining({ code: 'NOT_FOUND' }) as Error,
  );
});

test('the view of a dry run names rows, ranges of neighbours, places and stranded seats', () => {
  const { free, sectors } = stadium(['A', 20, 20]);
  const view = plannedPlacesView(planPlaces([{ sector_id: 'A', quantity: 19 }], free, sectors));
  expect(view).toMatchObject({ dry_run: true, quantity: 19, stranded: 1 });
  expect(view.by_sector[0]?.rows).toEqual([
    { row: '1', quantity: 10, is_whole: true, ranges: [{ from: 1, to: 10 }] },
    { row: '2', quantity: 9, is_whole: false, ranges: [{ from: 1, to: 9 }] },
  ]);
  expect(new Set(view.by_sector[0]?.seat_ids).size).toBe(19);
});
