/**
 * A line from which is taken at the front and to which is added at both ends, in one array that stays: whoever has left is
 * wiped out of it. An array that is pushed to and shifted from is copied again and again, and each copy that has grown old keeps
 * all that ever stood in it alive until the next full collection; a Map or a Set does the same. A fifth of what a hold
 * allocates outlived it that way, and was carried through two collections.
 */
export class Ring<T> {
  private slots: (T | undefined)[];
  private first = 0;
  private size = 0;

  /** Room for so many from the beginning, a power of two; it doubles when they are more. */
  constructor(room: number) {
    this.slots = empty(room);
  }

  get length(): number {
    return this.size;
  }

  push(one: T): void {
    this.makeRoom();
    this.slots[this.at(this.size)] = one;
    this.size += 1;
  }

  /** Before all others. */
  unshift(one: T): void {
    this.makeRoom();
    this.first = this.at(-1);
    this.slots[this.first] = one;
    this.size += 1;
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const one = this.slots[this.first];
    this.slots[this.first] = undefined;
    this.first = this.at(1);
    this.size -= 1;
    return one;
  }

  private at(position: number): number {
    return (this.first + position) & (this.slots.length - 1);
  }

  private makeRoom(): void {
    if (this.size < this.slots.length) return;
    const all = this.slots.map((_, position) => this.slots[this.at(position)]);
    this.slots = [...all, ...empty(all.length)];
    this.first = 0;
  }
}

function empty(room: number): undefined[] {
  return Array.from({ length: room }, () => undefined);
}
