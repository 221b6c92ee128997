/** So many keys in one query; the next ones wait for the next. */
const MOST_AT_ONCE = 500;

interface Asked<V> {
  readonly key: string;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Many readers of single rows by key share one query: whoever asks while one is under way goes along with the next. Nobody
 * waits for company; a thousand a second cost as many round trips as the server is quick, not a thousand.
 */
export class CoalescedReader<V> {
  private readonly asked: Asked<V>[] = [];
  private isReading = false;

  constructor(private readonly readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {}

  read(key: string): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.asked.push({ key, resolve, reject });
      if (!this.isReading) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isReading = true;
    while (this.asked.length > 0) {
      const batch = this.asked.splice(0, MOST_AT_ONCE);
      try {
        const found = await this.readAll([...new Set(batch.map(({ key }) => key))]);
        for (const { key, resolve } of batch) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isReading = false;
  }
}
