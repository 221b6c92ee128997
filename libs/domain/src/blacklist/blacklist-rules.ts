import { DomainError } from '../shared/domain-error.ts';

/** Refuses a blacklist entry that ends in the past: the operator has mistyped the date or the time zone. */
export function assertEndsInFuture({ until, now }: { readonly until: Date | null; readonly now: Date }): void {
  if (until === null || until > now) return;
  throw new DomainError('VALIDATION_FAILED', 'The request is malformed: see errors.', {
    errors: [{ path: 'until', message: 'must be in the future' }],
  });
}

/** The error for a blacklisted fan. It does not contain the reason, which only operators see. */
export function blacklisted(message = 'This account may not buy tickets. Please write to the organiser.'): DomainError {
  return new DomainError('BLACKLISTED', message);
}
