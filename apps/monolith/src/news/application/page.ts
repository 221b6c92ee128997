import type { Holder, NewsMatch } from './ports.ts';

/** A transaction of some hundred mails takes a fraction of a second. */
export const FANS_A_PAGE = 500;

export interface Page {
  readonly match: NewsMatch;
  readonly holders: readonly Holder[];
}
