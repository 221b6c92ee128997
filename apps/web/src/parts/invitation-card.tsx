import type { Invitation } from '#contracts/invitations';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { ConfirmButton } from './button.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

interface InvitationCardProps {
  invitation: Invitation;
  /** Called after an action, with what happened; without a text when it was refused. */
  onChange: (happened?: string) => void;
}

/** An invitation of the partner's list, with what has become of it and what can be done about it. */
export function InvitationCard({ invitation, onChange }: InvitationCardProps) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const cardTexts = texts.quotas.invitations;
  const { id, email, name, status, seats, quantity, note, list_key } = invitation;
  const who = name ?? email;
  const facts = [
    cardTexts.places(quantity),
    status === 'open' || status === 'held' ? cardTexts.ends(format.dateTime(invitation.expires_at)) : undefined,
    invitation.claimed_at ? cardTexts.claimed(format.dateTime(invitation.claimed_at)) : undefined,
    list_key ? cardTexts.list(list_key) : undefined,
  ];
  const act = async (action: () => Promise<unknown>, happened: string) => {
    const isDone = await run(action);
    onChange(isDone ? happened : undefined);
  };

  return (
    <li className="card partner-invitation" data-testid="invitation" data-invitation-id={id} data-status={status}>
      <div className="partner-head">
        <h3>
          {who}
          {name && <small>{email}</small>}
        </h3>
        <span className={`badge badge-invitation-${status}`}>{cardTexts.statuses[status]}</span>
      </div>
      <p className="fine-print">{facts.filter(Boolean).join(' · ')}</p>
      <ul className="partner-seats">
        {seats.map((seat) => (
          <li key={seat.seat_id} className="tag">
            {seat.sector} · {texts.seats.seatLabel(seat.row, seat.number)}
          </li>
        ))}
      </ul>
      {note && <p className="partner-note">{note}</p>}
      {problem && <ProblemNotice problem={problem} />}
      {(status === 'open' || status === 'held') && (
        <div className="button-row" role="group" aria-label={cardTexts.actions(who)}>
          {status === 'open' && (
            <ConfirmButton
              texts={cardTexts.resend}
              tone="primary"
              disabled={busy}
              onConfirm={() => void act(() => api.resendInvitation(id), cardTexts.resent(who))}
              testId="resend"
            />
          )}
          <ConfirmButton
            texts={cardTexts.withdraw}
            disabled={busy}
            onConfirm={() => void act(() => api.withdrawInvitation(id), cardTexts.withdrawn(who))}
            testId="withdraw"
          />
        </div>
      )}
    </li>
  );
}
