import type { Source } from './event.ts';

/** After the second denial in a row, doubling; longer than a gap, so that whoever has the source comes first. */
const FIRST_PAUSE_MS = 400;
/** How long the source of a loader that is gone waits for another one, at most. */
const LONGEST_PAUSE_MS = 1600;

interface Denials {
  readonly inARow: number;
  readonly until: number;
}

/**
 * Whose lock or gap a loader met twice in a row is well cared for, and is asked about less and less until it is to be had.
 * Without it eight loaders asked Redis ten times in vain for each fetch; with it every source soon has one or two of them.
 */
export class BusyNeighbours {
  private readonly denials = new Map<string, Denials>();

  careFor({ name }: Source, now: number): boolean {
    return now < (this.denials.get(name)?.until ?? 0);
  }

  denied({ name }: Source, now: number): void {
    const inARow = (this.denials.get(name)?.inARow ?? 0) + 1;
    const pauseMs = inARow < 2 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (inARow - 2), LONGEST_PAUSE_MS);
    this.denials.set(name, { inARow, until: now + pauseMs });
  }

  /** It is ours for now. */
  had({ name }: Source): void {
    this.denials.delete(name);
  }
}
