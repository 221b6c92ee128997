/** Maximum number of keys in one query. Further reads wait for the next query. */
const MAX_KEYS_IN_A_QUERY = 500;

interface PendingRead<V> {
  readonly key: string;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines reads of single rows by key into shared queries: reads that arrive while a query runs share the next query. A read
 * is never delayed to fill a batch. With 1,000 reads a second the number of round trips depends on how fast the server
 * answers, not on the number of reads.
 */
export class CoalescedReader<V> {
  private readonly pending: PendingRead<V>[] = [];
  private isReading = false;

  constructor(private readonly readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) {}

  read(key: string): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.pending.push({ key, resolve, reject });
      if (!this.isReading) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isReading = true;
    while (this.pending.length > 0) {
      const batch = this.pending.splice(0, MAX_KEYS_IN_A_QUERY);
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
