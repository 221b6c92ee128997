// The sources of the benchmark, in a process of their own: they answer, keep their ledgers, and tell them when asked.
import { EventSources } from '../../libs/testing/src/event-sources.ts';

const NEVER_ENDING = 1_000_000_000;

export interface LedgerSums {
  readonly sent: number;
  readonly sentAgain: number;
  readonly requests: number;
  /** Null when no source was asked twice. */
  readonly leastGapMs: number | null;
}

const sources = await EventSources.open({ sizeOf: () => NEVER_ENDING });

process.on('message', () => {
  const gap = sources.leastGapMs();
  const requests = [...sources.ledgers.values()].reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  const sums: LedgerSums = {
    sent: sources.total('sent'),
    sentAgain: sources.total('sentAgain'),
    requests,
    leastGapMs: Number.isFinite(gap) ? gap : null,
  };
  sources.ledgers.clear();
  process.send?.(sums);
});
process.on('disconnect', () => process.exit());
process.send?.(sources.urlOf(''));
