import { SectorMap } from '#domain/purchase/sector-map';
import { SectorSnapshot } from './sector-snapshot.ts';
import { FREE } from './sector-seats.sql.ts';

const ids = ['a', 'b', 'c', 'd'];

/** A snapshot of one row of four seats, which are free in the database. */
function snapshot(): SectorSnapshot {
  const geometry = ids.map((_, index) => ({ rowIndex: 0, number: index + 1, rank: index }));
  const numbers = geometry.map(({ number }) => number);
  const states = { letters: FREE.repeat(ids.length), ctids: ids.map(() => '(0,1)'), nextExpiryMs: null };
  const opened = new SectorSnapshot(new SectorMap(geometry), { ids, rows: ids.map(() => '1'), numbers }, () =>
    Promise.resolve(states),
  );
  opened.apply(states);
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
