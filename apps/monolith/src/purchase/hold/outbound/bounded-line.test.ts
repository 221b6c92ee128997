import { SectorMap } from '#domain/purchase/sector-map';
import { toProblem } from '#platform/http/problem';
import { RequestRefused } from '#platform/http/request-refused';
import { randomUUID } from 'node:crypto';
import type { SectorForSale } from '../../application/ports.ts';
import type { PostgresPurchaseWindows } from '../../turns/outbound/postgres-purchase-windows.ts';
import type { HoldRequest } from '../application/ports.ts';
import { BatchedSeatHolds } from './batched-seat-holds.ts';
import type { WriterConnection } from './writer-connection.ts';
import type { SectorSnapshots } from './sector-snapshots.ts';
import { SectorSnapshot } from './sector-snapshot.ts';

const PLACES = 10_000;

/** A sector of free standing places, as memory has it. */
function freeSeats(): SectorSnapshot {
  const ids = Array.from({ length: PLACES }, () => randomUUID());
  const map = new SectorMap(ids.map((_, rank) => ({ rowIndex: 0, number: null, rank })));
  const nothing = ids.map(() => null);
  const look = { letters: 'f'.repeat(PLACES), ctids: ids.map((_, rank) => `(${rank},1)`), nextExpiryMs: null };
  const picture = new SectorSnapshot(map, { ids, rows: nothing, numbers: nothing }, () => Promise.resolve(look));
  picture.see(look);
  return picture;
}

test('while the database is silent 5,000 wait; whoever comes then is told at once to come back, and nobody is forgotten', async () => {
  let giveUp: (reason: unknown) => void = () => undefined;
  const silence = new Promise<never>((_resolve, reject) => (giveUp = reject));
  silence.catch(() => undefined);
  const lane = { commit: () => silence, look: () => Promise.resolve([]), close: () => Promise.resolve() };
  const picture = freeSeats();
  const holds = new BatchedSeatHolds(
    [lane, lane] as unknown as WriterConnection[],
    { of: () => Promise.resolve(picture), loadedOf: () => picture } as unknown as SectorSnapshots,
    { learn: () => Promise.resolve() } as unknown as PostgresPurchaseWindows,
    600,
  );
  const matchId = randomUUID();
  const sector: SectorForSale = {
    ...{ id: randomUUID(), matchId, name: 'Terrace', kind: 'standing', gate: null },
    ...{ priceCents: 900, currency: 'EUR', capacity: PLACES },
  };
  const wish = (): HoldRequest => ({ matchId, sector, userId: randomUUID(), sessionToken: undefined, quantity: 1 });
  const answers: unknown[] = [];
  const asked = Array.from({ length: 5600 }, () =>
    holds.take(wish()).then(
      () => answers.push('held'),
      (error: unknown) => answers.push(error),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(answers).toHaveLength(600);
  const [refusal] = answers.map((error) => toProblem(error, 'request'));
  expect([refusal?.code, refusal?.status, refusal?.headers['retry-after']]).toEqual(['LOCK_TIMEOUT', 503, expect.any(String)]);
  giveUp(new RequestRefused('DEPENDENCY_UNAVAILABLE'));
  await Promise.all(asked);
  expect([answers.length, picture.map.freeCount]).toEqual([5600, PLACES]);
});
