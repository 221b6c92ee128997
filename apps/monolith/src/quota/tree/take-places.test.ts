import type { Transaction } from '#application/transaction-manager';
import { PlacesNotFree, type FreePlace, type PlaceMove } from '../../purchase/quota-places.api.ts';
import { takePlaces } from './take-places.ts';

/** Ten seats of one row, 1 to 10. */
const row = Array.from({ length: 10 }, (_, index): FreePlace => {
  const number = index + 1;
  return { seatId: String(number), sectorId: 'A', row: '1', number, rowIndex: 0, rank: index };
});

/** Takes the first four seats of the row. Somebody has already those in `gone`. Returns the seats that were taken, and the requests. */
async function takenOf(gone: readonly string[], named: readonly string[] = []) {
  const asked: (readonly string[])[] = [];
  const moveFree = (_tx: Transaction, { seatIds }: PlaceMove, { waits }: { waits: boolean }): Promise<readonly string[]> => {
    asked.push([waits ? 'waits' : 'does not wait', ...seatIds]);
    return Promise.resolve(seatIds.filter((seatId) => gone.includes(seatId)));
  };
  const sectors = [{ sectorId: 'A', free: row, taken: row.slice(0, 4) }];
  const move = { matchId: 'm', from: null, to: 'q' };
  const taken = await takePlaces({ moveFree }, undefined as unknown as Transaction, move, { sectors, named: new Set(named) });
  return { taken: taken.flatMap((sector) => sector.taken.map(({ seatId }) => seatId)), asked };
}

test('planned places that are free are taken at once', async () => {
  expect(await takenOf([])).toEqual({ taken: ['1', '2', '3', '4'], asked: [['waits', '1', '2', '3', '4']] });
});

test('places that went are replaced by others of the sector, worse ones first, until enough are free; none is tried twice, and only the first call waits', async () => {
  const { taken, asked } = await takenOf(['2', '4', '9', '10']);
  expect(taken.toSorted()).toEqual(['1', '3', '7', '8']);
  expect(asked).toEqual([
    ['waits', '1', '2', '3', '4'],
    ['does not wait', '9', '10'],
    ['does not wait', '7', '8'],
  ]);
});

test('too few places are left in the sector: PlacesNotFree with the number that was free', async () => {
  const gone = row.slice(1).map(({ seatId }) => seatId);
  await expect(takenOf(gone)).rejects.toEqual(new PlacesNotFree(1, 4));
});

test('a place that the operator has named is not replaced', async () => {
  await expect(takenOf(['2'], ['2'])).rejects.toThrow(PlacesNotFree);
  expect((await takenOf(['2'], ['1'])).taken).toEqual(['1', '3', '4', '10']);
});
