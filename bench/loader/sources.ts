// Serves the event sources of the benchmark in a separate process. On any message it sends the sums of the sources' ledgers, which
// record the received requests and sent events, and clears the ledgers.
import { EventSources } from '../../libs/testing/src/event-sources.ts';

const ENDLESS = 1_000_000_000;

/** Sums over all sources of the requests received and the events sent. */
export interface LedgerSums {
  readonly sent: number;
  readonly sentAgain: number;
  readonly requests: number;
  /** The shortest time between two requests to one source. Null if no source got two requests. */
  readonly minGapMs: number | null;
}

const sources = await EventSources.open({ sizeOf: () => ENDLESS });

process.on('message', () => {
  const gap = sources.minGapMs();
  const requests = [...sources.ledgers.values()].reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  const sums: LedgerSums = {
    sent: sources.total('sent'),
    sentAgain: sources.total('sentAgain'),
    requests,
    minGapMs: Number.isFinite(gap) ? gap : null,
  };
  sources.ledgers.clear();
  process.send?.(sums);
});
process.on('disconnect', () => process.exit());
process.send?.(sources.urlOf(''));
