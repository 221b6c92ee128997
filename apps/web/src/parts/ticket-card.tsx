import type { Match } from '#contracts/matches';
import type { Ticket } from '#contracts/tickets';
import type { ReactNode } from 'react';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';
import { TicketQr } from './ticket-qr.tsx';

/** A ticket with its seat, its holder and the QR code. `children`: what its owner can do with it. */
export function TicketCard({ ticket, match, children }: { ticket: Ticket; match: Match | undefined; children?: ReactNode }) {
  const { texts, format } = useLanguage();
  const { seat } = ticket;
  const isValid = ticket.status === 'valid';
  return (
    <li
      className={isValid ? 'ticket' : 'ticket ticket-void'}
      data-testid="ticket"
      data-ticket-id={ticket.id}
      data-status={ticket.status}
    >
      <div className="ticket-main">
        <div className="ticket-top">
          <h2>{match ? matchTitle(match) : ' '}</h2>
          <span className={`badge badge-ticket-${ticket.status}`}>{texts.tickets.statuses[ticket.status]}</span>
        </div>
        {match && (
          <p className="ticket-when">
            <time dateTime={match.kickoff_at}>{format.dateTime(match.kickoff_at)}</time>
            <br />
            {match.venue}
          </p>
        )}
        <dl className="ticket-seat">
          <SeatFact name="sector">{seat.sector}</SeatFact>
          {seat.row !== null && <SeatFact name="row">{seat.row}</SeatFact>}
          <SeatFact name="seat">{seat.row === null ? texts.tickets.standing : seat.number}</SeatFact>
        </dl>
        <p className="ticket-holder">
          <span>{texts.tickets.holder}</span>
          <strong data-testid="ticket-holder">{ticket.holder_name}</strong>
        </p>
        {children}
      </div>
      <div className="ticket-stub">
        {isValid ? (
          <>
            <TicketQr ticketId={ticket.id} holder={ticket.holder_name} />
            <p className="fine-print">{texts.tickets.showAtGate}</p>
          </>
        ) : (
          <p className="fine-print">{texts.tickets.voidNow}</p>
        )}
      </div>
    </li>
  );
}

function SeatFact({ name, children }: { name: 'sector' | 'row' | 'seat'; children: ReactNode }) {
  const { texts } = useLanguage();
  return (
    <div>
      <dt>{texts.tickets[name]}</dt>
      <dd data-testid={`ticket-${name}`}>{children}</dd>
    </div>
  );
}
