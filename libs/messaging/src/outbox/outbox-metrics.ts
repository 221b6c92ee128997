import { Gauge, type Registry } from 'prom-client';
import type { DataSource } from 'typeorm';

interface OutboxState {
  readonly pending: number;
  readonly lag: number;
  readonly parked: number;
}

const STATE = `
  select count(*) filter (where parked_at is null)::int as pending, count(*) filter (where parked_at is not null)::int as parked,
         coalesce(extract(epoch from now() - min(created_at) filter (where parked_at is null)), 0)::float as lag
  from outbox`;

/** Registers the gauges of the outbox. A metrics scrape reads the table `outbox` once for all three gauges. */
export function observeOutbox(registry: Registry, dataSource: DataSource): void {
  let reading: Promise<OutboxState | undefined> | undefined;
  const read = (): Promise<OutboxState | undefined> => {
    reading ??= (dataSource.query(STATE) as Promise<OutboxState[]>)
      .then(
        ([state]) => state,
        () => undefined,
      )
      .finally(() => (reading = undefined));
    return reading;
  };
  const gauge = (name: string, help: string, member: keyof OutboxState): Gauge =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const state = await read();
        if (state) this.set(state[member]);
      },
    });
  gauge('outbox_pending', 'Messages waiting for delivery.', 'pending');
  gauge('outbox_lag_seconds', 'Age of the oldest message waiting for delivery.', 'lag');
  gauge('outbox_parked', 'Messages set aside after failing too often.', 'parked');
}
