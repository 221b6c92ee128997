import { DomainError } from '../shared/domain-error.ts';

export interface ListedFan {
  readonly userId: string;
  /** How much longer; null: until somebody takes the fan off the list. */
  readonly restMs: number | null;
}

/**
 * The blacklist as a process remembers it. It is told how long each entry still lasts and counts that down by itself, on a clock
 * that only goes forward: whose clock says what hour it is plays no part.
 */
export class ListedFans {
  private endsAtMs: ReadonlyMap<string, number> = new Map();

  /** Returns who was not on it before. */
  replace(listed: readonly ListedFan[], nowMs: number): readonly string[] {
    const before = this.endsAtMs;
    this.endsAtMs = new Map(listed.map(({ userId, restMs }) => [userId, restMs === null ? Infinity : nowMs + restMs]));
    return [...this.endsAtMs.keys()].filter((userId) => !((before.get(userId) ?? -Infinity) > nowMs));
  }

  has(userId: string, nowMs: number): boolean {
    return (this.endsAtMs.get(userId) ?? -Infinity) > nowMs;
  }
}

/** An entry that is over when it begins is a slip of the pen: a year, a time zone. */
export function assertEndsLater({ until, now }: { readonly until: Date | null; readonly now: Date }): void {
  if (until === null || until > now) return;
  throw new DomainError('VALIDATION_FAILED', 'The request is malformed: see errors.', {
    errors: [{ path: 'until', message: 'must be in the future' }],
  });
}

/** The reason stays with the operators. */
export function blacklisted(message = 'This account may not buy tickets. Please write to the organiser.'): DomainError {
  return new DomainError('BLACKLISTED', message);
}
