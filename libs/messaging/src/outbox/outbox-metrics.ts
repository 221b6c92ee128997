import type { Registry } from 'prom-client';
import type { DataSource } from 'typeorm';
import { registerGauges } from '#platform/health/gauges';

const STATE = `
  select count(*) filter (where parked_at is null)::int as pending, count(*) filter (where parked_at is not null)::int as parked,
         coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::float as lag
  from outbox`;

/** Registers the gauges of the outbox. */
export function observeOutbox(registry: Registry, dataSource: DataSource): void {
  const read = async (): Promise<{ pending: number; lag: number; parked: number } | undefined> =>
    (await dataSource.query<{ pending: number; lag: number; parked: number }[]>(STATE))[0];
  registerGauges(registry, read, [
    { name: 'outbox_pending', help: 'Messages waiting for delivery.', values: ({ pending }) => [[pending]] },
    { name: 'outbox_lag_seconds', help: 'Age of the oldest message waiting for delivery.', values: ({ lag }) => [[lag]] },
    { name: 'outbox_parked', help: 'Messages set aside after failing too often.', values: ({ parked }) => [[parked]] },
  ]);
}
