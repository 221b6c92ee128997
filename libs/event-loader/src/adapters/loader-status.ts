import { Gauge, type Registry } from 'prom-client';
import { SOURCE_STATUS } from './loader-sources.sql.ts';

/** What operators see of one source: cursor, counters, last error, and the events that wait for their effect (`due`). */
export interface SourceStatus {
  readonly source: string;
  readonly cursor: string | null;
  readonly stored: number;
  readonly refused_duplicates: number;
  readonly quarantined: number;
  readonly last_error: string | null;
  readonly transported_again: number;
  readonly gaps: number;
  readonly missing: number | null;
  readonly errors: number;
  readonly lag_seconds: number | null;
  readonly due: number;
  readonly parked: number;
  readonly conflicts: number;
}

/**
 * Runs SQL and returns the rows. Each caller passes its own function, because pg and TypeORM return results in different forms.
 */
export type Query = (sql: string) => Promise<readonly unknown[]>;

/** The status of every stored source, and of configured sources that were not polled yet. */
export async function readStatus(query: Query, configured: readonly string[] = []): Promise<SourceStatus[]> {
  const known = (await query(SOURCE_STATUS.text)) as SourceStatus[];
  const unpolled = configured.filter((name) => !known.some(({ source }) => source === name)).map(statusBeforeFirstPoll);
  return [...known, ...unpolled].toSorted((a, b) => (a.source < b.source ? -1 : 1));
}

function statusBeforeFirstPoll(source: string): SourceStatus {
  const numbers = { stored: 0, refused_duplicates: 0, quarantined: 0, transported_again: 0, gaps: 0, errors: 0 };
  return {
    source,
    cursor: null,
    ...numbers,
    due: 0,
    parked: 0,
    conflicts: 0,
    last_error: null,
    missing: null,
    lag_seconds: null,
  };
}

const GAUGES: readonly [name: string, help: string, member: keyof SourceStatus][] = [
  [
    'loader_lag_seconds',
    'Seconds since the loader last had all events of the source; before the first time, since the first poll.',
    'lag_seconds',
  ],
  ['loader_events_stored', 'Stored events of the source.', 'stored'],
  ['loader_duplicates_refused', 'Events that came again with the same content and were refused.', 'refused_duplicates'],
  ['loader_events_quarantined', 'Invalid or changed events that are quarantined for people to check.', 'quarantined'],
  [
    'loader_events_transported_again',
    'Events that were fetched and dropped, because another loader was faster.',
    'transported_again',
  ],
  ['loader_gaps', 'Ids below the cursor that the source never sent.', 'gaps'],
  ['loader_events_missing', "Events that the source's own count includes and that are not stored.", 'missing'],
  ['loader_errors', 'Failed polls of the source.', 'errors'],
  ['loader_events_due', 'Loaded events that have not taken effect yet.', 'due'],
  ['loader_events_parked', 'Loaded events that cannot take effect or failed ten times: parked for people.', 'parked'],
  ['loader_conflicts', 'Actions of other systems that we cannot apply, for people to resolve.', 'conflicts'],
];

/**
 * Registers the gauges of all sources. When metrics are collected, one query reads the values of all gauges from the database. So
 * the gauges count the work of every loader, including loaders that have ended.
 */
export function observeLoader(registry: Registry, query: Query): void {
  let reading: Promise<SourceStatus[]> | undefined;
  const read = (): Promise<SourceStatus[]> => {
    reading ??= readStatus(query)
      .catch(() => [])
      .finally(() => (reading = undefined));
    return reading;
  };
  for (const [name, help, member] of GAUGES) {
    new Gauge({
      name,
      help,
      labelNames: ['source'],
      registers: [registry],
      async collect() {
        for (const row of await read()) if (typeof row[member] === 'number') this.set({ source: row.source }, row[member]);
      },
    });
  }
}
