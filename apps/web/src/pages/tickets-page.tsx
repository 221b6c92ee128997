import type { Match } from '#contracts/matches';
import type { Ticket } from '#contracts/tickets';
import type { Transfer } from '#contracts/transfers';
import { useAppServices } from '../api/app-services.ts';
import { GiveTicket } from '../parts/give-ticket.tsx';
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
  /** The open offer of the ticket. */
  offer: Transfer | undefined;
}

/** The page with all tickets of the fan. */
export function TicketsPage() {
  const { texts } = useLanguage();
  const { api, caller } = useAppServices();
  const load = async (signal: AbortSignal): Promise<{ tickets: TicketOfMatch[]; offersToFan: number }> => {
    const [{ items }, { items: offers }] = await Promise.all([api.tickets(signal), api.transfers(signal)]);
    const open = offers.filter(({ status }) => status === 'offered');
    const ids = [...new Set(items.map((ticket) => ticket.match_id))];
    const matches = await Promise.all(ids.map((id) => api.match(id, signal)));
    const tickets = items.map((ticket) => ({
      ticket,
      match: matches.find(({ id }) => id === ticket.match_id),
      offer: open.find(({ role, ticket_id }) => role === 'giver' && ticket_id === ticket.id),
    }));
    return { tickets: tickets.sort(validFirst), offersToFan: open.filter(({ role }) => role === 'receiver').length };
  };
  const { value, problem, reload } = useLoaded(load, caller.signedIn ? 'tickets' : undefined);
  const tickets = value?.tickets;
  return (
    <>
      <PageTitle>{texts.tickets.title}</PageTitle>
      {!caller.signedIn && <p className="empty">{texts.fan.needed}</p>}
      {caller.signedIn && !tickets && <Loading problem={problem} onRetry={reload} />}
      {value && (
        <p>
          <Link to={paths.transfers} className={value.offersToFan > 0 ? 'button' : undefined} testId="transfers-link">
            {texts.transfers.link(value.offersToFan)}
          </Link>
        </p>
      )}
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
          {tickets.map(({ ticket, match, offer }) => (
            <TicketCard key={ticket.id} ticket={ticket} match={match}>
              {match && ticket.status === 'valid' && <GiveTicket ticket={ticket} match={match} offer={offer} onChange={reload} />}
            </TicketCard>
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
