import type { DataSource } from 'typeorm';

/** Inserts the matches "Đurđevac 1" to "Đurđevac <count>" directly, without the jobs that index them. */
export async function insertMatches(dataSource: DataSource, count: number): Promise<void> {
  await dataSource.query(
    `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows)
     select gen_random_uuid(), 'Đurđevac ' || n, 'Gost', 'Igralište', now(), 'EUR', 4, false, 'scheduled', 600, 1000
     from generate_series(1, $1) as n`,
    [count],
  );
}
