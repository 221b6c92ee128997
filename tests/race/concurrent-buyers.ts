import { verifyDatabase, type Finding } from '../../apps/monolith/src/cli/verify/verify-database.ts';
import type { TestAnswer } from '../../apps/monolith/src/testing/test-app.ts';
import { openMonolith, type MatchOnSale, type WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { openBoxOffice, BoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import type { DataSource } from 'typeorm';

/** Two replicas of the monolith that share one database and one Redis. */
export interface Replicas {
  readonly offices: readonly [BoxOffice, BoxOffice];
  readonly dataSource: DataSource;
  /** Number of transaction retries of both replicas together. */
  retries(): Promise<number>;
  close(): Promise<void>;
}

/** Opens two monoliths in this process that share a database and a Redis. */
export async function openReplicas(settings: Record<string, string> = {}): Promise<Replicas> {
  const opened: OpenBoxOffice = await openBoxOffice(settings);
  const second: WholeMonolith = await openMonolith({ ...opened.settings, ...settings });
  const offices = [opened.office, new BoxOffice(second)] as const;
  return {
    offices,
    dataSource: opened.office.monolith.dataSource,
    async retries() {
      const counts = await Promise.all(offices.map(({ monolith }) => monolith.metric('transaction_retries_total')));
      return counts.reduce((sum, n) => sum + n, 0);
    },
    async close() {
      await second.close();
      await opened.close();
    },
  };
}

/** The invariants of the CLI command `verify` that the data of a match breaks. */
export async function faultsOf(dataSource: DataSource, matchId: string): Promise<Finding[]> {
  const { invariants } = await verifyDatabase(dataSource, { matchId });
  return invariants.filter(({ broken }) => broken > 0);
}

/** Seats with more than one living reservation: held, in checkout or paid, and not expired. No such seat may exist. */
export function seatsClaimedTwice(dataSource: DataSource, matchId: string): Promise<{ seat_id: string }[]> {
  return dataSource.query(
    `select s.seat_id from reservation_seats s join reservations r on r.id = s.reservation_id
     where r.match_id = $1 and (r.status = 'completed' or (r.status in ('held', 'ordered') and r.expires_at > now()))
     group by s.seat_id having count(*) > 1`,
    [matchId],
  );
}

/** Number of answers for each status and code. */
export function tally(answers: readonly TestAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, json } of answers) {
    const outcome = status < 300 ? String(status) : `${status} ${json?.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const BUYERS = 30;

/** Buyers who hold seats of these sectors, each as a new fan and one request after the other, until `stop`. They use both replicas. */
export function buyersOf(
  { offices }: Replicas,
  match: MatchOnSale,
  sectors: readonly number[],
): { stop(): Promise<{ readonly answers: readonly TestAnswer[]; readonly times: readonly number[] }> } {
  const answers: TestAnswer[] = [];
  const times: number[] = [];
  let isStopped = false;
  const buyers = Array.from({ length: BUYERS }, async (_, buyer) => {
    for (let turn = buyer; !isStopped; turn += 1) {
      const begunAt = performance.now();
      answers.push(await offices[turn % 2 === 0 ? 0 : 1].hold(match, { sector: sectors[turn % sectors.length]! }));
      times.push(performance.now() - begunAt);
    }
  });
  return {
    async stop() {
      isStopped = true;
      await Promise.all(buyers);
      return { answers, times };
    },
  };
}

/** Runs `work` and measures its duration. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const begunAt = performance.now();
  const result = await work();
  return { result, ms: performance.now() - begunAt };
}

/** The quantile of the values, rounded; 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** Prints the figures of a race test to the output of the test run. */
export function report(
  race: string,
  figures: Record<string, string | number | readonly unknown[] | Record<string, number>>,
): void {
  const texts = Object.entries(figures).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  process.stdout.write(`  ${race}: ${texts.join(', ')}\n`);
}
