import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningSale } from './running-sale.ts';
import { createQuota, postAsOperator, type QuotaSetup } from './setup.ts';

const PLACES = 8000;
/** The sale goes on for so long before and after a move. */
const AROUND_MS = 300;

/** Moves of 8,000 places while the public buys places of the same sectors. */
export interface MoveResult {
  /** Seconds of each move, by what it moved. */
  readonly seconds: Readonly<Record<'from the public' | 'to another quota' | 'to the public', number>>;
  /** Holds of the public a second. */
  readonly perSecond: number;
  /** Requests of buyers that were refused, by code. */
  readonly refusals: Readonly<Record<string, number>>;
}

export async function movePlaces(setup: QuotaSetup, sale: RunningSale): Promise<MoveResult> {
  const match = setup.nextMatch();
  const [first = '', second = '', ...others] = match.sectorIds;
  const everywhere = others.map((sector_id) => ({ sector_id, quantity: Math.ceil(PLACES / others.length) }));
  const from = await createQuota(setup, match, everywhere);
  const to = await createQuota(setup, match, [{ sector_id: first, quantity: 1 }]);
  const places = [{ quantity: PLACES }];
  const move = (source: string, target: string) => () =>
    postAsOperator(setup, `/ops/quotas/${source}/moves`, { to: target, places, reason: 'benchmark' });
  const selling = await sale.during({ ...match, sectorIds: others }, async () => {
    await sleep(AROUND_MS);
    const seconds = {
      'to another quota': await secondsOf(move(from, to)),
      'to the public': await secondsOf(move(to, 'public')),
      // Of two sectors in which nobody buys: who wants the places that the buyers take in the same millisecond is told LOCK_TIMEOUT.
      'from the public': await secondsOf(() =>
        createQuota(
          setup,
          match,
          [first, second].map((sector_id) => ({ sector_id, quantity: PLACES / 2 })),
        ),
      ),
    };
    await sleep(AROUND_MS);
    return seconds;
  });
  return { seconds: selling.result, perSecond: selling.perSecond, refusals: selling.refusals };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}
