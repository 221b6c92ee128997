import type { CatalogApi, CatalogMatch } from '../catalog/catalog.api.ts';

const MATCHES_PER_READ = 100;

/** What notices say about a match. */
export interface NoticeMatch {
  readonly id: string;
  readonly name: string;
  readonly venue: string;
  readonly kickoffAt: Date;
  readonly isCancelled: boolean;
  readonly cancelReason: string | null;
}

/** What ticket holders are told about their match. */
export type HolderNotice =
  | { readonly kind: 'moved'; readonly match: NoticeMatch; readonly previousKickoffAt: string; readonly previousVenue: string }
  | { readonly kind: 'cancelled'; readonly match: NoticeMatch }
  | { readonly kind: 'coming up'; readonly match: NoticeMatch };

/** Reads the matches for notices from the catalogue context. */
export class NoticeMatches {
  constructor(private readonly catalog: CatalogApi) {}

  async find(matchId: string): Promise<NoticeMatch | undefined> {
    const match = await this.catalog.match(matchId);
    return match && asNoticeMatch(match);
  }

  /** Matches that kick off between now and `until`, by kick-off, without cancelled ones. */
  async comingUp(until: Date): Promise<readonly NoticeMatch[]> {
    const found: CatalogMatch[] = [];
    for (;;) {
      const page = await this.catalog.list({ after: found.at(-1)?.id, limit: MATCHES_PER_READ });
      found.push(...page);
      const last = page.at(-1);
      if (page.length < MATCHES_PER_READ || !last || last.kickoffAt > until) break;
    }
    const now = new Date();
    return found
      .filter(({ kickoffAt, cancelledAt }) => kickoffAt > now && kickoffAt <= until && cancelledAt === null)
      .map(asNoticeMatch);
  }
}

function asNoticeMatch({ id, home, away, venue, kickoffAt, cancelledAt, cancelReason }: CatalogMatch): NoticeMatch {
  return { id, name: `${home} vs ${away}`, venue, kickoffAt, isCancelled: cancelledAt !== null, cancelReason };
}
