import { SectorMap } from '#domain/purchase/sector-map';
import { toProblem } from '#platform/http/problem';
import { RequestRefused } from '#platform/http/request-refused';
import { randomUUID } from 'node:crypto';
import type { SectorForSale } from '../../application/ports.ts';
import type { HoldRequest } from '../application/ports.ts';
import { HoldQueue } from './hold-queue.ts';
import { SectorSnapshot, type SectorSnapshots } from './sector-snapshot.ts';
import type { WriterConnection } from './writer-connection.ts';

const SEATS = 10_000;

/** The snapshot of a sector in which all standing places are free. */
function freeSector(): SectorSnapshot {
  const ids = Array.from({ length: SEATS }, () => randomUUID());
  const map = new SectorMap(ids.map((_, rank) => ({ rowIndex: 0, number: null, rank })));
  const nulls = ids.map(() => null);
  const states = { letters: 'f'.repeat(SEATS), ctids: ids.map((_, rank) => `(${rank},1)`), nextExpiryMs: null };
  const snapshot = new SectorSnapshot(map, { ids, rows: nulls, numbers: nulls }, () => Promise.resolve(states));
  snapshot.apply(states);
  return snapshot;
}

test('hold queue: while the database does not answer, 5,000 requests wait, further requests get LOCK_TIMEOUT at once, and finally all are answered', async () => {
  let fail: (reason: unknown) => void = () => undefined;
  const noAnswer = new Promise<never>((_resolve, reject) => (fail = reject));
  noAnswer.catch(() => undefined);
  const connection = { commit: () => noAnswer, read: () => Promise.resolve([]) } as unknown as WriterConnection;
  const snapshot = freeSector();
  const queue = new HoldQueue({
    connections: [connection, connection],
    holdSeconds: 600,
    snapshots: { get: () => snapshot } as unknown as SectorSnapshots,
    turns: { learn: () => Promise.resolve() },
    matches: { sectors: () => Promise.resolve([]) },
  });
  const matchId = randomUUID();
  const sector: SectorForSale = {
    ...{ id: randomUUID(), matchId, name: 'Terrace', kind: 'standing', gate: null, wheelchair: false },
    ...{ priceCents: 900, currency: 'EUR', capacity: SEATS },
  };
  const request = (): HoldRequest => ({ matchId, sector, userId: randomUUID(), sessionToken: undefined, quantity: 1 });
  const answers: unknown[] = [];
  const requests = Array.from({ length: 5600 }, () =>
    queue.hold(request()).then(
      () => answers.push('held'),
      (error: unknown) => answers.push(error),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(answers).toHaveLength(600);
  const [refusal] = answers.map((error) => toProblem(error, 'request'));
  expect([refusal?.code, refusal?.status, refusal?.headers['retry-after']]).toEqual(['LOCK_TIMEOUT', 503, expect.any(String)]);
  fail(new RequestRefused('DEPENDENCY_UNAVAILABLE'));
  await Promise.all(requests);
  expect([answers.length, snapshot.map.freeCount]).toEqual([5600, SEATS]);
});
