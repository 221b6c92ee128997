import { SectorMap } from '#domain/purchase/sector-map';
import { randomUUID } from 'node:crypto';
import type { SectorForSale } from '../../application/ports.ts';
import type { HoldOutcome } from '../application/ports.ts';
import { HoldQueue } from './hold-queue.ts';
import { SectorSnapshot, type SectorSnapshots } from './sector-snapshot.ts';
import type { WriterConnection } from './writer-connection.ts';

const SEATS = 4;
const sector: SectorForSale = {
  ...{ id: randomUUID(), matchId: randomUUID(), name: 'Terrace', kind: 'standing', gate: null, wheelchair: false },
  ...{ priceCents: 900, currency: 'EUR', capacity: SEATS },
};

/** A hold queue that holds all that it proposes, and whose snapshot never gets the answer to a refresh. */
function queueWithoutAnswers(free: number) {
  const ids = Array.from({ length: SEATS }, () => randomUUID());
  const nulls = ids.map(() => null);
  let refreshes = 0;
  const snapshot = new SectorSnapshot(
    new SectorMap(ids.map((_, rank) => ({ rowIndex: 0, number: null, rank }))),
    { ids, rows: nulls, numbers: nulls },
    () => new Promise(() => (refreshes += 1)),
  );
  snapshot.apply({
    letters: 'f'.repeat(free).padEnd(SEATS, '-'),
    ctids: ids.map((_, rank) => `(0,${rank})`),
    nextExpiryMs: null,
  });
  const heldFirst = { indices: '1', expiresAtMs: Date.now() + 600_000 };
  const connection = { commit: () => Promise.resolve([heldFirst]) } as unknown as WriterConnection;
  const queue = new HoldQueue({
    connections: [connection],
    holdSeconds: 600,
    snapshots: { get: () => snapshot } as unknown as SectorSnapshots,
    turns: { learn: () => Promise.resolve() },
    matches: { sectors: () => Promise.resolve([]) },
  });
  const hold = (quantity: number): Promise<HoldOutcome> =>
    queue.hold({ matchId: sector.matchId, sector, userId: randomUUID(), sessionToken: undefined, quantity });
  return { snapshot, hold, refreshes: () => refreshes };
}

const answerOrNone = (hold: Promise<HoldOutcome>): Promise<string> =>
  Promise.race([hold.then(({ kind }) => kind), new Promise<string>((resolve) => setTimeout(resolve, 100, 'none yet'))]);

test('a request does not wait for the refresh of a stale snapshot that has enough free seats', async () => {
  const { snapshot, hold, refreshes } = queueWithoutAnswers(SEATS);
  await new Promise((resolve) => setTimeout(resolve, 450));
  snapshot.changed();
  expect(await answerOrNone(hold(1))).toBe('held');
  expect(await answerOrNone(hold(1))).toBe('held');
  expect(refreshes()).toBe(1);
});

test('a request waits for the refresh of a snapshot that has too few free seats', async () => {
  const { hold, refreshes } = queueWithoutAnswers(2);
  expect(await answerOrNone(hold(3))).toBe('none yet');
  expect(refreshes()).toBe(1);
});
