import { SectorMap } from '#domain/purchase/sector-map';
import { SectorSnapshot } from './sector-snapshot.ts';
import { FREE, type SeatStates } from './sector-seats.sql.ts';

const ids = ['a', 'b', 'c', 'd'];

const allFree: SeatStates = { letters: FREE.repeat(ids.length), ctids: ids.map(() => '(0,1)'), nextExpiryMs: null };

/** A snapshot of one row of four seats, which are free in the database. */
function snapshot(read = () => Promise.resolve(allFree)): SectorSnapshot {
  const geometry = ids.map((_, index) => ({ rowIndex: 0, number: index + 1, rank: index }));
  const numbers = geometry.map(({ number }) => number);
  const opened = new SectorSnapshot(new SectorMap(geometry), { ids, rows: ids.map(() => '1'), numbers }, read);
  opened.apply(allFree);
  return opened;
}

const free = ({ map }: SectorSnapshot): number => map.freeCount;

describe('seats that move to a quota', () => {
  test('are not proposed, also after a refresh that still reads them as free', async () => {
    const sector = snapshot();
    sector.movingToQuota(['a', 'b'], Date.now() + 60_000);
    expect(free(sector)).toBe(2);
    await sector.refresh();
    expect(free(sector)).toBe(2);
  });

  test('are not free again because a proposal of before was lost', () => {
    const sector = snapshot();
    const { seats } = sector.propose(4, () => 0)!;
    sector.movingToQuota(['a', 'b'], Date.now() + 60_000);
    sector.notHeld(seats, []);
    expect(free(sector)).toBe(2);
  });

  test('are proposed again after the refresh that follows the move, or when its time is over', async () => {
    const sector = snapshot();
    sector.movingToQuota(['a'], Date.now() + 60_000);
    sector.changed();
    await sector.refresh();
    expect(free(sector)).toBe(4);
    sector.movingToQuota(['a'], Date.now() - 1);
    expect(free(sector)).toBe(3);
    await sector.refresh();
    expect(free(sector)).toBe(4);
  });
});

describe('while a refresh reads', () => {
  let answer: (states: SeatStates) => void;
  let fail: (error: Error) => void;
  let sector: SectorSnapshot;
  const soon = (): number => Date.now() + 60_000;

  beforeEach(() => {
    sector = snapshot(
      () =>
        new Promise((resolve, reject) => {
          answer = resolve;
          fail = reject;
        }),
    );
  });

  test('seats that were held meanwhile, or taken by another process, stay taken', async () => {
    const refresh = sector.refresh();
    const { seats } = sector.propose(1, () => 0)!;
    sector.held(seats, soon());
    sector.takenElsewhere(['d'], soon());
    answer(allFree);
    await refresh;
    expect(free(sector)).toBe(2);
  });

  test('the next refresh corrects them', async () => {
    const refresh = sector.refresh();
    sector.takenElsewhere(['d'], soon());
    answer(allFree);
    await refresh;
    const next = sector.refresh();
    answer(allFree);
    await next;
    expect(free(sector)).toBe(4);
  });

  test('the end of a hold that was made meanwhile makes the snapshot stale at its time', async () => {
    const refresh = sector.refresh();
    sector.held(sector.propose(1, () => 0)!.seats, soon());
    answer(allFree);
    await refresh;
    expect([sector.isStale(soon() - 1000), sector.isStale(soon() + 1000)]).toEqual([false, true]);
  });

  test('the snapshot is not stale, except for seats that became free meanwhile', async () => {
    sector.changed();
    const refresh = sector.refresh();
    expect(sector.isStale(soon())).toBe(false);
    sector.changed();
    answer(allFree);
    await refresh;
    expect(sector.isStale(soon())).toBe(true);
  });

  test('a lost connection leaves the snapshot stale', async () => {
    sector.changed();
    sector.refreshBeside();
    fail(new Error('connection lost'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(sector.isStale(soon())).toBe(true);
  });
});
