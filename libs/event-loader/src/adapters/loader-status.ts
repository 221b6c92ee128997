import { registerGauges } from '#platform/health/gauges';
import type { Registry } from 'prom-client';
import { SOURCE_STATUS } from './loader-sources.sql.ts';

/** The values of a source that was not polled yet. */
const NO_COUNTS = {
  ...{ stored: 0, refused_duplicates: 0, quarantined: 0, transported_again: 0, gaps: 0, errors: 0 },
  ...{ due: 0, parked: 0, conflicts: 0 },
};
const UNPOLLED = { ...NO_COUNTS, cursor: null, last_error: null, missing: null, lag_seconds: null };

/** What operators see of one source: cursor, counters, last error, and the events that wait for their effect (`due`). */
export interface SourceStatus extends Readonly<typeof NO_COUNTS> {
  readonly source: string;
  readonly cursor: string | null;
  readonly last_error: string | null;
  readonly missing: number | null;
  readonly lag_seconds: number | null;
}

/**
 * Runs SQL and returns the rows. Each caller passes its own function, because pg and TypeORM return results in different forms.
 */
export type Query = (sql: string) => Promise<readonly unknown[]>;

/** The status of every stored source, and of configured sources that were not polled yet. */
export async function readStatus(query: Query, configured: readonly string[] = []): Promise<SourceStatus[]> {
  const known = (await query(SOURCE_STATUS.text)) as SourceStatus[];
  const unpolled = configured.filter((name) => !known.some(({ source }) => source === name));
  const all = [...known, ...unpolled.map((source) => ({ source, ...UNPOLLED }))];
  return all.toSorted((a, b) => (a.source < b.source ? -1 : 1));
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
  const values = (member: keyof SourceStatus) => (rows: readonly SourceStatus[]) =>
    rows.flatMap(({ source, [member]: value }) => (typeof value === 'number' ? [[value, { source }] as const] : []));
  const gauges = GAUGES.map(([name, help, member]) => ({ name, help, labels: ['source'], values: values(member) }));
  registerGauges(registry, () => readStatus(query), gauges);
}
