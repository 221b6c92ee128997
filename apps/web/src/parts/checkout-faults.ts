import type { Problem } from '../api/problem.ts';
import type { CheckoutRequest } from '../api/types.ts';
import type { Texts } from '../text/en.ts';

/** Only what is certainly not an address is stopped here; the server judges the rest. */
const plausibleEmail = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/;

export type Faults = Record<string, string>;

/** What the fan must mend before the order is sent, by field. */
export function faultsOf(wish: CheckoutRequest, texts: Texts): Faults {
  const faults: Faults = {};
  wish.holders.forEach(({ name }, index) => {
    if (!name.trim()) faults[`holder-${index}`] = texts.checkout.nameNeeded;
  });
  if (!plausibleEmail.test(wish.email.trim())) faults.email = texts.checkout.emailNeeded;
  return faults;
}

/**
 * The server names fields as `holders.0.name` or `/holders/0/name`; ours are `holder-0` and `email`. Its messages are
 * English and meant for programmers, so the fan reads ours.
 */
export function serverFaults(problem: Problem, texts: Texts): Faults {
  const faults: Faults = {};
  for (const { path } of problem.facts.errors ?? []) {
    const holder = /holders\D+(\d+)/.exec(path);
    if (holder) faults[`holder-${holder[1]}`] = texts.checkout.nameNeeded;
    else if (path.includes('email')) faults.email = texts.checkout.emailNeeded;
  }
  return faults;
}
