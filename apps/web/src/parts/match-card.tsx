import type { Match } from '#contracts/matches';
import { useAppServices } from '../api/app-services.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';
import { Link } from './link.tsx';
import { MatchFacts, SaleBadge, TeamCrest } from './match-facts.tsx';
import { useLoaded } from './use-loaded.ts';

/** A match in the list of all matches: teams, kickoff, lowest price and a link to its page. */
export function MatchCard({ match }: { match: Match }) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const { value: sectors } = useLoaded((signal) => api.sectors(match.id, signal), match.id);
  const cheapest =
    sectors && sectors.items.length > 0 ? Math.min(...sectors.items.map((sector) => sector.price_cents)) : undefined;
  const isOver = match.sale.status === 'sold_out' || match.sale.status === 'closed';
  const selling = match.sale.status === 'open' || match.sale.status === 'paused';
  return (
    <li className="card match-card" data-testid="match-card" data-match-id={match.id}>
      <div className="match-card-top">
        <SaleBadge status={match.sale.status} />
        {match.queue_required && <span className="tag">{texts.matches.withQueue}</span>}
      </div>
      <h2 className="match-card-teams">
        <span className="match-card-team">
          <TeamCrest name={match.home} />
          {match.home}
        </span>
        <span className="only-spoken">{texts.matches.versus}</span>
        <span className="match-card-team">
          <TeamCrest name={match.away} />
          {match.away}
        </span>
      </h2>
      <MatchFacts match={match} />
      {match.sale.status === 'scheduled' && match.sale.opens_at && (
        <p className="match-card-opens">{texts.matches.opensAt(format.dateTime(match.sale.opens_at))}</p>
      )}
      <div className="match-card-bottom">
        <p className="price-from">
          {cheapest !== undefined && !isOver && (
            <>
              <span>{texts.matches.from}</span> <strong>{format.money(cheapest, match.currency)}</strong>
            </>
          )}
        </p>
        <Link
          to={paths.match(match.id)}
          className={selling ? 'button button-primary' : 'button'}
          testId="open-match"
          label={`${selling ? texts.matches.buy : texts.matches.details}: ${matchTitle(match)}`}
        >
          {selling ? texts.matches.buy : texts.matches.details}
        </Link>
      </div>
    </li>
  );
}
