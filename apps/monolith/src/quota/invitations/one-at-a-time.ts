/** Runs the calls for a key one after the other, in this process. Calls for other keys run at the same time. */
export class OneAtATime {
  private readonly last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const own = (this.last.get(key) ?? Promise.resolve()).then(work, work);
    this.last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.last.get(key) === own) this.last.delete(key);
    }
  }
}
