/**
 * Items that come and go thousands of times a second, such as the requests under way. A removed item leaves an empty slot of an array, which
 * a later item takes.
 *
 * A Set or Map would keep removed items in memory. When its table is full it makes a new one, and the table before points to it. Once V8
 * has moved one of these tables to its old generation, all later tables stay in memory, with their items, until the next full collection.
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

  /** Call this only once for each item, because afterwards its slot may belong to another item. */
  remove(slot: number): void {
    this.slots[slot] = undefined;
    this.unused.push(slot);
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const item of this.slots) if (item !== undefined) yield item;
  }
}
