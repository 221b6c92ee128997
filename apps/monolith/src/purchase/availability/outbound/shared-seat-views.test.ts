import { Registry } from 'prom-client';
import type { SeatMapView } from '../application/availability-reader.ts';
import type { PostgresAvailability } from './postgres-availability.ts';
import type { PostgresSeatInventory } from './postgres-seat-inventory.ts';
import { SharedSeatViews } from './shared-seat-views.ts';

const NOON = Date.UTC(2026, 10, 19, 12);

/**
 * The seat views of a process with this number. The returned function sets the seats and the database's clock, then reads the seat
 * map.
 */
function seatViewsOfProcess(processNumber: number) {
  let database = { letters: 'aaaaaaaa', atMs: NOON };
  const availability = {
    seatLetters: async () => ({ ...database, nextExpiryMs: null }),
    processNumber: async () => processNumber,
  } as unknown as PostgresAvailability;
  const inventory = {
    seats: async () => Array.from(database.letters, (_, rank) => ({ rank })),
  } as unknown as PostgresSeatInventory;
  const replicaReads = { hasReplica: false, read: () => Promise.reject(new Error('not read')) };
  const views = new SharedSeatViews(availability, inventory, { registry: new Registry() }, replicaReads);
  return async (letters: string, atMs: number): Promise<SeatMapView> => {
    database = { letters, atMs };
    views.invalidate('match', 'sector');
    return views.seats('sector');
  };
}

/** Two processes read in the same millisecond, and get different contents because of a commit in between. */
async function readInOneMillisecond(processNumbers: readonly [number, number]) {
  const [readHere, readThere] = [seatViewsOfProcess(processNumbers[0]), seatViewsOfProcess(processNumbers[1])];
  const [here] = [await readHere('haaaaaaa', NOON), await readThere('hhaaaaaa', NOON)];
  return { here, laterThere: await readThere('hhhaaaaa', NOON + 500) };
}

test('seat versions: a process does not know the version of another process, even one of the same millisecond', async () => {
  const { here, laterThere } = await readInOneMillisecond([7, 8]);
  expect(laterThere.history.changedSince(String(here.version))).toBeUndefined();
});

test('negative control: two processes with the same number accept each other’s versions, and the changes miss a seat', async () => {
  const { here, laterThere } = await readInOneMillisecond([7, 7]);
  expect(laterThere.history.changedSince(String(here.version))).toEqual([2]);
});

test('seat versions grow also when the clock goes back or stands still, and are safe integers until 2085', async () => {
  const read = seatViewsOfProcess(4095);
  const versions = [
    (await read('haaaaaaa', NOON)).version,
    (await read('hhaaaaaa', NOON - 60_000)).version,
    (await read('hhhaaaaa', NOON - 60_000)).version,
  ];
  expect(versions).toEqual([...versions].sort((a, b) => a - b));
  expect(new Set(versions).size).toBe(3);
  expect(Number.isSafeInteger((await seatViewsOfProcess(4095)('b', Date.UTC(2085, 0))).version)).toBe(true);
});

test('a seat map that returns to an earlier content has the earlier tag, and a new version', async () => {
  const read = seatViewsOfProcess(1);
  const [first, , third] = [await read('haaaaaaa', NOON), await read('aaaaaaaa', NOON + 1), await read('haaaaaaa', NOON + 2)];
  expect([third.tag === first.tag, third.version > first.version]).toEqual([true, true]);
  expect(third.history.changedSince(first.tag)).toEqual([0]);
});
