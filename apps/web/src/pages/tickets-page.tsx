import type { Match } from '#contracts/matches';
import type { Ticket } from '#contracts/tickets';
import { useAppServices } from '../api/app-services.ts';
import { Link } from '../parts/link.tsx';
import { Loading } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { TicketCard } from '../parts/ticket-card.tsx';
import { useLoaded } from '../parts/use-loaded.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';

interface TicketOfMatch {
  ticket: Ticket;
  match: Match | undefined;
}

/** The page with all tickets of the fan. */
export function TicketsPage() {
  const { texts } = useLanguage();
  const { api, caller } = useAppServices();
  const load = async (signal: AbortSignal): Promise<TicketOfMatch[]> => {
    const { items } = await api.tickets(signal);
    const ids = [...new Set(items.map((ticket) => ticket.match_id))];
    const matches = await Promise.all(ids.map((id) => api.match(id, signal)));
    return items.map((ticket) => ({ ticket, match: matches.find(({ id }) => id === ticket.match_id) })).sort(validFirst);
  };
  const { value: tickets, problem, reload } = useLoaded(load, caller.signedIn ? 'tickets' : undefined);
  return (
    <>
      <PageTitle>{texts.tickets.title}</PageTitle>
      {!caller.signedIn && <p className="empty">{texts.fan.needed}</p>}
      {caller.signedIn && !tickets && <Loading problem={problem} onRetry={reload} />}
      {tickets?.length === 0 && (
        <div className="empty">
          <p>{texts.tickets.empty}</p>
          <Link to={paths.matches} className="button">
            {texts.common.backToMatches}
          </Link>
        </div>
      )}
      {tickets && tickets.length > 0 && (
        <ul className="ticket-list">
          {tickets.map(({ ticket, match }) => (
            <TicketCard key={ticket.id} ticket={ticket} match={match} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Sorts valid tickets before tickets of any other status, then by kickoff. */
function validFirst(a: TicketOfMatch, b: TicketOfMatch): number {
  const rank = ({ ticket }: TicketOfMatch) => (ticket.status === 'valid' ? 0 : 1);
  return rank(a) - rank(b) || (a.match?.kickoff_at ?? '').localeCompare(b.match?.kickoff_at ?? '');
}
