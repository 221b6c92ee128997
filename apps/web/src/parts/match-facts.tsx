import type { Match, SaleStatus } from '#contracts/matches';
import { useLanguage } from '../text/language.tsx';

/** Kickoff and venue. The kickoff is shown in the fan's time zone. */
export function MatchFacts({ match }: { match: Pick<Match, 'kickoff_at' | 'venue'> }) {
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

const colours = 6;

/**
 * A shield with the club's initials, because we have no rights to the real crests. The colour depends only on the club's name.
 */
export function TeamCrest({ name }: { name: string }) {
  const words = name.split(/[\s-]+/).filter((word) => /^\p{Lu}/u.test(word));
  const initials = words.length > 1 ? words.map((word) => word[0]).join('') : name.slice(0, 3).toUpperCase();
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return (
    <svg className={`crest crest-${sum % colours}`} viewBox="0 0 40 44" aria-hidden="true" focusable="false">
      <path d="M20 1.5 37 6v17c0 9.5-7.5 15.5-17 19.5C10.5 38.5 3 32.5 3 23V6z" />
      <text x="20" y="26" textAnchor="middle">
        {initials.slice(0, 3)}
      </text>
    </svg>
  );
}

/** A small label with the state of a sale, for example "On sale". */
export function SaleBadge({ status }: { status: SaleStatus }) {
  const { texts } = useLanguage();
  return (
    <span className={`badge badge-${status}`} data-testid="sale-status" data-status={status}>
      {texts.saleStatus[status]}
    </span>
  );
}
