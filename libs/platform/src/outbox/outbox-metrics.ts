import { Gauge, type Registry } from 'prom-client';
import type { DataSource } from 'typeorm';

/** How far behind the relays are, read when somebody asks. */
export function observeOutbox(registry: Registry, dataSource: DataSource): void {
  const read = async (): Promise<{ pending: number; lag: number; parked: number }> => {
    const rows = (await dataSource.query(
      `select count(*) filter (where parked_at is null)::int as pending, count(*) filter (where parked_at is not null)::int as parked,
              coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::float as lag from outbox`,
    )) as { pending: number; lag: number; parked: number }[];
    return rows[0] ?? { pending: 0, lag: 0, parked: 0 };
  };
  const gauge = (name: string, help: string, pick: (state: Awaited<ReturnType<typeof read>>) => number): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const state = await read().catch(() => undefined);
        if (state) this.set(pick(state));
      },
    });
  gauge('outbox_pending', 'Messages waiting to leave.', (state) => state.pending);
  gauge('outbox_lag_seconds', 'Age of the oldest message waiting to leave.', (state) => state.lag);
  gauge('outbox_parked', 'Messages set aside after failing too often.', (state) => state.parked);
}
