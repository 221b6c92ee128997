import { DomainError } from '../shared/domain-error.ts';

/** Throws if the fan would have more than `limit` seats of a match. `taken` counts held, ordered and bought seats. */
export function assertWithinLimit(count: { limit: number; taken: number; wanted: number }): void {
  const rest = Math.max(0, count.limit - count.taken);
  if (count.wanted <= rest) return;
  throw new DomainError(
    'TICKET_LIMIT_REACHED',
    `A fan may have at most ${count.limit} seats of this match; ${rest} more are possible.`,
    {
      limit: count.limit,
      rest,
    },
  );
}
