import type { CheckOutRequest } from '#contracts/orders';
import type { Problem } from '../api/problem.ts';
import type { Texts } from '../text/texts.ts';

/** Does not match text that cannot be an e-mail address. The server makes the full check. */
const plausibleEmail = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/;

/** The text of an error by the name of its form field. */
export type FieldErrors = Record<string, string>;

/** The errors of the name and the address of one person, by form field. */
export function validatePerson({ name, email }: { name?: string; email: string }, texts: Texts): FieldErrors {
  const errors: FieldErrors = {};
  if (name !== undefined && !name.trim()) errors.name = texts.checkout.nameNeeded;
  if (!plausibleEmail.test(email.trim())) errors.email = texts.checkout.emailNeeded;
  return errors;
}

/** The errors of the checkout form that the fan must correct before the order is sent, by form field. */
export function validateCheckout(request: CheckOutRequest, texts: Texts): FieldErrors {
  const errors = validatePerson({ email: request.email }, texts);
  request.holders.forEach(({ name }, index) => {
    if (!name.trim()) errors[`holder-${index}`] = texts.checkout.nameNeeded;
  });
  return errors;
}

/**
 * The errors of a VALIDATION_FAILED answer, by form field. The server's paths are `holders.0.name` or `/holders/0/name`; the
 * form's fields are `holder-0` and `email`. The server's messages are in English for programmers, so the page shows its own.
 */
export function serverFieldErrors(problem: Problem, texts: Texts): FieldErrors {
  const errors: FieldErrors = {};
  for (const { path } of problem.members.errors ?? []) {
    const holder = /holders\D+(\d+)/.exec(path);
    if (holder) errors[`holder-${holder[1]}`] = texts.checkout.nameNeeded;
    else if (path.includes('email')) errors.email = texts.checkout.emailNeeded;
  }
  return errors;
}
