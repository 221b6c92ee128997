import type { Match } from '#contracts/matches';
import type { Ticket } from '#contracts/tickets';
import { useAppServices } from '../api/app-services.ts';
import { Link } from '../parts/link.tsx';
import { LoadingFailed, Loading } from '../parts/loading.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { TicketCard } from '../parts/ticket-card.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

interface TicketsWithMatches {
  tickets: Ticket[];
  matches: Map<string, Match>;
}

/** The page with all tickets of the fan. */
export function TicketsPage() {
  const { texts } = useLanguage();
  const { api, caller } = useAppServices();
  const load = async (signal: AbortSignal): Promise<TicketsWithMatches> => {
    const { items } = await api.tickets(signal);
    const ids = [...new Set(items.map((ticket) => ticket.match_id))];
    const matches = await Promise.all(ids.map((id) => api.match(id, signal)));
    return { tickets: items, matches: new Map(matches.map((match) => [match.id, match])) };
  };
  const { value, problem, reload } = useLoaded(load, caller.signedIn ? 'tickets' : undefined);
  return (
    <>
      <PageTitle documentTitle={texts.tickets.title}>{texts.tickets.title}</PageTitle>
      {!caller.signedIn && <p className="empty">{texts.fan.needed}</p>}
      {caller.signedIn && !value && (problem ? <LoadingFailed problem={problem} onRetry={reload} /> : <Loading />)}
      {value?.tickets.length === 0 && (
        <div className="empty">
          <p>{texts.tickets.empty}</p>
          <Link to={paths.matches} className="button">
            {texts.common.backToMatches}
          </Link>
        </div>
      )}
      {value && value.tickets.length > 0 && (
        <ul className="ticket-list">
          {sortTickets(value).map((ticket) => (
            <TicketCard key={ticket.id} ticket={ticket} match={value.matches.get(ticket.match_id)} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Sorts valid tickets before tickets of any other status, then by kickoff. */
function sortTickets({ tickets, matches }: TicketsWithMatches): Ticket[] {
  const kickoff = (ticket: Ticket) => matches.get(ticket.match_id)?.kickoff_at ?? '';
  const rank = (ticket: Ticket) => (ticket.status === 'valid' ? 0 : 1);
  return tickets.toSorted((a, b) => rank(a) - rank(b) || kickoff(a).localeCompare(kickoff(b)));
}
