/**
 * Items that come and go thousands of times a second, such as the requests under way. A Set or Map would keep them in memory long after
 * they were removed: it copies its table again and again, each old table refers to the next one, and one old table in V8's old
 * generation keeps all that follow, with their items, until the next full collection. Here a removed item leaves a slot of an array, which
 * a later item takes.
 */
export class SlotList<T> implements Iterable<T> {
  private readonly slots: (T | undefined)[] = [];
  private readonly unused: number[] = [];

  get size(): number {
    return this.slots.length - this.unused.length;
  }

  /** Returns the slot of the item, with which it can be removed. */
  add(item: T): number {
    const slot = this.unused.pop() ?? this.slots.length;
    this.slots[slot] = item;
    return slot;
  }

  /** Call this once for each item: afterwards its slot may belong to another item. */
  remove(slot: number): void {
    this.slots[slot] = undefined;
    this.unused.push(slot);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const item of this.slots) if (item !== undefined) yield item;
  }
}
