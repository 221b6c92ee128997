/** A SERIALIZABLE transaction is attempted at most this often. */
export const MAX_ATTEMPTS = 6;

/** Pause after failed attempt 1 … 5: 50–150 ms, then doubling up to one second. The formula is part of the specification. */
export function backoffMs(attempt: number, random: () => number): number {
  return Math.min(1000, (0.5 + random()) * 50 * 2 ** attempt);
}
