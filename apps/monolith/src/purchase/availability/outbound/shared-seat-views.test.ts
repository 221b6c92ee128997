import type { SeatMapView } from '../application/availability-reader.ts';
import type { SeatInventory } from '../application/ports.ts';
import type { PostgresAvailability } from './postgres-availability.ts';
import { SharedSeatViews } from './shared-seat-views.ts';

const NOON = Date.UTC(2026, 10, 19, 12);

/** A process that sees what it is told to, at a moment of the database's clock that is told, too. */
function processNumbered(number: number) {
  let seen = { letters: 'aaaaaaaa', atMs: NOON };
  const looks = {
    seatLetters: async () => ({ ...seen, nextExpiryMs: null }),
    processNumber: async () => number,
  } as unknown as PostgresAvailability;
  const inventory = { seats: async () => Array.from(seen.letters, (_, rank) => ({ rank })) } as unknown as SeatInventory;
  const views = new SharedSeatViews(looks, inventory);
  return async (letters: string, atMs: number): Promise<SeatMapView> => {
    seen = { letters, atMs };
    views.changed('match', 'sector');
    return views.seats('sector');
  };
}

/** Two who look in the same millisecond and see two pictures, because something was committed in between. */
async function twoSnapshotsOfOneMoment(numbers: readonly [number, number]) {
  const [here, there] = [processNumbered(numbers[0]), processNumbered(numbers[1])];
  const [mine] = [await here('haaaaaaa', NOON), await there('hhaaaaaa', NOON)];
  return { mine, laterThere: await there('hhhaaaaa', NOON + 500) };
}

test('a version of another process is not known here, even of the same millisecond', async () => {
  const { mine, laterThere } = await twoSnapshotsOfOneMoment([7, 8]);
  expect(laterThere.history.changedSince(String(mine.version))).toBeUndefined();
});

test('the control: under one number it is taken for its own, and the answer misses a seat', async () => {
  const { mine, laterThere } = await twoSnapshotsOfOneMoment([7, 7]);
  expect(laterThere.history.changedSince(String(mine.version))).toEqual([2]);
});

test('versions grow also when the clock goes back or stands, and are safe integers for decades', async () => {
  const look = processNumbered(4095);
  const versions = [
    (await look('haaaaaaa', NOON)).version,
    (await look('hhaaaaaa', NOON - 60_000)).version,
    (await look('hhhaaaaa', NOON - 60_000)).version,
  ];
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
  expect(new Set(versions).size).toBe(3);
  expect(Number.isSafeInteger((await processNumbered(4095)('b', Date.UTC(2085, 0))).version)).toBe(true);
});

test('a picture that comes back has its tag again, and a version of its own', async () => {
  const look = processNumbered(1);
  const [first, , third] = [await look('haaaaaaa', NOON), await look('aaaaaaaa', NOON + 1), await look('haaaaaaa', NOON + 2)];
  expect([third.tag === first.tag, third.version > first.version]).toEqual([true, true]);
  expect(third.history.changedSince(first.tag)).toEqual([0]);
});
