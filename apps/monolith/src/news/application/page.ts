import type { Holder, Holders, MatchPushes, NewsMatch, PushedTo } from './ports.ts';

/** A transaction of some hundred mails takes a fraction of a second. */
export const FANS_A_PAGE = 500;

export interface Page {
  readonly match: NewsMatch;
  readonly holders: readonly Holder[];
  /** Whose devices are told: with the first page all of them, as one broadcast, and nobody with the others. */
  readonly pushedTo: PushedTo | undefined;
}

export async function pageOf(
  match: NewsMatch,
  afterUserId: string | null,
  { holders, pushes }: { holders: Holders; pushes: MatchPushes },
): Promise<Page> {
  return {
    match,
    holders: await holders.page(match.id, afterUserId, FANS_A_PAGE),
    pushedTo: afterUserId === null ? await pushes.devicesOf(await holders.everybody(match.id)) : undefined,
  };
}
