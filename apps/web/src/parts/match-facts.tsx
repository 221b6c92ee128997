import type { Match } from '#contracts/matches';
import { useLanguage } from '../text/language.tsx';

/** Kickoff and venue. The kickoff is shown in the fan's time zone. */
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
