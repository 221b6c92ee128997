import type { Match } from '../api/types.ts';
import { useLanguage } from '../text/language.tsx';

/** When and where; the time is the fan's own. */
export function MatchFacts({ match }: { match: Match }) {
  const { texts, format } = useLanguage();
  return (
    <dl className="match-facts">
      <div>
        <dt>{texts.matches.kickoff}</dt>
        <dd>
          <time dateTime={match.kickoff_at}>{format.dateTime(match.kickoff_at)}</time>
        </dd>
      </div>
      <div>
        <dt>{texts.matches.venue}</dt>
        <dd>{match.venue}</dd>
      </div>
    </dl>
  );
}
