import { Gauge, type Registry } from 'prom-client';

/** A gauge whose values come from a reading, for example from the result of a query. */
export interface GaugeOf<Reading> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** The values of the gauge, each with its labels. */
  readonly values: (reading: Reading) => readonly (readonly [value: number, labels?: Readonly<Record<string, string>>])[];
  /** True if values that are no longer in the reading disappear. */
  readonly isReset?: boolean;
}

/**
 * Registers gauges that share one reading for each metrics scrape. If the reading fails or is undefined, they keep their last
 * values.
 */
export function registerGauges<Reading>(
  registry: Registry,
  read: () => Promise<Reading | undefined>,
  gauges: readonly GaugeOf<Reading>[],
): void {
  let reading: Promise<Reading | undefined> | undefined;
  const readOnce = (): Promise<Reading | undefined> =>
    (reading ??= read()
      .catch(() => undefined)
      .finally(() => (reading = undefined)));
  for (const { name, help, labels: labelNames = [], values, isReset } of gauges) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const current = await readOnce();
        if (current === undefined) return;
        if (isReset) this.reset();
        for (const [value, labels = {}] of values(current)) this.set(labels, value);
      },
    });
  }
}
