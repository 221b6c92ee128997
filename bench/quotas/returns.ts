import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningSale } from './running-sale.ts';
import { createQuota, type QuotaSetup } from './setup.ts';

const QUOTAS = 20;
const PLACES = 400;
const POLL_MS = 5;

/** The return of 20 quotas at one deadline, while the public buys places of the same sectors. */
export interface ReturnResult {
  /** From the deadline until the last quota has returned. It includes up to a second until the task runs. */
  readonly seconds: number;
  /** From the first return to the last one. */
  readonly returnSeconds: number;
  /** The buyers' p99 while quotas returned, and before. */
  readonly p99Ms: number;
  readonly quietP99Ms: number;
  readonly refusals: Readonly<Record<string, number>>;
}

export async function returnQuotas(setup: QuotaSetup, sale: RunningSale, quietMs: number): Promise<ReturnResult> {
  const match = setup.nextMatch();
  const quotaIds: string[] = [];
  for (const sector_id of match.sectorIds.slice(0, QUOTAS))
    quotaIds.push(await createQuota(setup, match, [{ sector_id, quantity: PLACES }]));
  await sale.during(match, () => sleep(quietMs / 2));
  const quiet = await sale.during(match, () => sleep(quietMs));
  const busy = await sale.during(match, async () => {
    await sleep(quietMs / 4);
    return untilReturned(setup, quotaIds);
  });
  const { deadline, firstReturn, lastReturn } = busy.result;
  return {
    seconds: (lastReturn - deadline) / 1000,
    returnSeconds: (lastReturn - firstReturn) / 1000,
    p99Ms: busy.p99Ms(firstReturn, lastReturn),
    quietP99Ms: quiet.p99Ms(),
    refusals: busy.refusals,
  };
}

/** Sets the deadline to now and waits until all quotas have returned. The times are those of the machine, which also has the database. */
async function untilReturned({ database }: QuotaSetup, quotaIds: readonly string[]) {
  await database.query('update quotas set return_at = now() where id = any($1::uuid[])', [quotaIds]);
  const deadline = Date.now();
  const open = `select count(*)::int as n, min(returned_at) as first from quotas where id = any($1::uuid[]) and status = 'returned'`;
  for (;;) {
    const [row] = (await database.query<{ n: number; first: Date | null }>(open, [quotaIds])).rows;
    if (row?.n === quotaIds.length) return { deadline, firstReturn: row.first?.getTime() ?? deadline, lastReturn: Date.now() };
    await sleep(POLL_MS);
  }
}
