import type { Match } from '#contracts/matches';
import { paths } from '../routes.ts';
import { matchTitle } from '../text/match-title.ts';
import { useLanguage } from '../text/language.tsx';
import { Link } from './link.tsx';
import { MatchFacts } from './match-facts.tsx';
import { PageTitle } from './page-title.tsx';
import { SaleBadge } from './sale-badge.tsx';
import { Icon } from './icon.tsx';
import { TeamCrest } from './team-crest.tsx';

/** The top of a match page: teams, kickoff, venue and the state of the sale. */
export function MatchHeading({ match }: { match: Match }) {
  const { texts } = useLanguage();
  const title = matchTitle(match);
  return (
    <div className="match-heading">
      <Link to={paths.matches} className="back-link">
        <Icon name="back" /> {texts.common.backToMatches}
      </Link>
      <div className="match-heading-row">
        <span className="match-crests">
          <TeamCrest name={match.home} />
          <TeamCrest name={match.away} />
        </span>
        <div>
          <PageTitle documentTitle={title}>{title}</PageTitle>
          <MatchFacts match={match} />
        </div>
        <SaleBadge status={match.sale.status} />
      </div>
    </div>
  );
}
