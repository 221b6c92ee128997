import { Gauge, type Registry } from 'prom-client';

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

/** Numbers beyond 2^53 are not to be expected of counters. */
const STATUS = `
  select source, cursor, stored::float as stored, refused_duplicates::float as refused_duplicates, quarantined::float as quarantined,
         last_error, transported_again::float as transported_again, gaps::float as gaps, missing::float as missing,
         errors::float as errors, extract(epoch from now() - coalesce(caught_up_at, asked_since))::float as lag_seconds,
         (select count(*)::int from loaded_events_due d where d.source = s.source and parked_at is null) as due,
         (select count(*)::int from loaded_events_due d where d.source = s.source and parked_at is not null) as parked,
         (select count(*)::int from loaded_conflicts c where c.source = s.source and resolved_at is null) as conflicts
  from loader_sources s order by source`;

/** Anything that runs SQL: a pool's own words differ from the mapper's. */
export type Query = (sql: string) => Promise<readonly unknown[]>;

/** Every source known to the store, and those that are configured and have not been asked yet. */
export async function readStatus(query: Query, configured: readonly string[] = []): Promise<SourceStatus[]> {
  const known = (await query(STATUS)) as SourceStatus[];
  const fresh = configured.filter((name) => !known.some(({ source }) => source === name)).map(untouched);
  return [...known, ...fresh].toSorted((a, b) => (a.source < b.source ? -1 : 1));
}

function untouched(source: string): SourceStatus {
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
    'Since all that the source had was here; before the first time, since it was asked first.',
    'lag_seconds',
  ],
  ['loader_events_stored', 'Events of the source that are here.', 'stored'],
  ['loader_duplicates_refused', 'Events that came again and were refused.', 'refused_duplicates'],
  ['loader_events_quarantined', 'Events that were set aside for people.', 'quarantined'],
  [
    'loader_events_transported_again',
    'Events that were fetched and thrown away, another loader having been faster.',
    'transported_again',
  ],
  ['loader_gaps', 'Ids that nobody offered.', 'gaps'],
  ['loader_events_missing', "Events the source's own count has and we have not.", 'missing'],
  ['loader_errors', 'Turns that failed.', 'errors'],
  ['loader_events_due', 'Events somebody here has yet to act upon.', 'due'],
  ['loader_events_parked', 'Events that can have no effect, or failed too often: set aside for people.', 'parked'],
  ['loader_conflicts', 'What was done elsewhere and cannot be done here, for people to resolve.', 'conflicts'],
];

/** Read from the rows when somebody asks, once for all: so they count what every loader did, also those that are gone. */
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
