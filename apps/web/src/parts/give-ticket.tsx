import type { Match } from '#contracts/matches';
import type { Ticket } from '#contracts/tickets';
import type { Transfer } from '#contracts/transfers';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { toProblem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import { isUuid } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Button, ConfirmButton } from './button.tsx';
import { type FieldErrors, validatePerson } from './checkout-errors.ts';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

interface GiveTicketProps {
  ticket: Ticket;
  match: Match;
  /** The open offer of the ticket. */
  offer: Transfer | undefined;
  onChange: () => void;
}

/** What the owner of a valid ticket can do to give it away: offer it, or withdraw the open offer. */
export function GiveTicket({ ticket, match, offer, onChange }: GiveTicketProps) {
  const { texts } = useLanguage();
  const [isOpen, setIsOpen] = useState(false);
  const [isCancelled, setIsCancelled] = useState(false);
  if (offer) {
    const onWithdrawn = () => {
      setIsOpen(false);
      setIsCancelled(true);
      onChange();
    };
    return <OpenOffer key={offer.id} offer={offer} isNew={isOpen} onWithdrawn={onWithdrawn} />;
  }
  if (Date.parse(match.kickoff_at) <= serverNow() || match.cancelled_at !== null) return null;
  if (match.transfers === 'locked') return <p className="fine-print">{texts.transfers.locked}</p>;
  const close = () => {
    setIsOpen(false);
    setIsCancelled(true);
  };
  if (isOpen) return <OfferForm ticketId={ticket.id} onOffered={onChange} onCancel={close} />;
  return (
    // After "cancel" or a withdrawal the focus returns to this button, so that the keyboard continues here.
    <Button tone="quiet" autoFocus={isCancelled} onClick={() => setIsOpen(true)} testId="give-ticket">
      {texts.transfers.give}
    </Button>
  );
}

interface OpenOfferProps {
  offer: Transfer;
  /** The fan has just made it with the form that was here. */
  isNew: boolean;
  onWithdrawn: () => void;
}

function OpenOffer({ offer, isNew, onWithdrawn }: OpenOfferProps) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that had the focus is gone with the form.
    if (isNew) frame.current?.focus();
  }, [isNew]);
  const withdraw = async () => {
    // Also after a refusal: then the ticket is the receiver's, and the page shows that.
    await run(() => api.withdrawTransfer(offer.id));
    onWithdrawn();
  };
  return (
    <div
      className="ticket-offer"
      ref={frame}
      tabIndex={-1}
      role="group"
      aria-label={texts.transfers.statuses.offered}
      data-testid="open-offer"
      data-offer-id={offer.id}
    >
      <p>
        <strong>{texts.transfers.offeredTo(offer.to_email ?? offer.to_user_id ?? '')}</strong>
        <br />
        {texts.transfers.until(format.dateTime(offer.expires_at))}
      </p>
      {problem && <ProblemNotice problem={problem} />}
      <ConfirmButton texts={texts.transfers.withdraw} onConfirm={() => void withdraw()} disabled={busy} testId="withdraw-offer" />
    </div>
  );
}

interface OfferFormProps {
  ticketId: string;
  onOffered: () => void;
  onCancel: () => void;
}

function OfferForm({ ticketId, onOffered, onCancel }: OfferFormProps) {
  const { texts } = useLanguage();
  const { api } = useAppServices();
  const { busy, problem, setProblem, run } = useAction();
  const [to, setTo] = useState('');
  const [holder, setHolder] = useState('');
  const [errors, setErrors] = useState<FieldErrors>({});
  const form = useFaultFocus(errors);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const receiver = to.trim();
    const isAddress = !validatePerson({ email: receiver }, texts).email;
    setProblem(undefined);
    setErrors(isAddress || isUuid(receiver) ? {} : { to: texts.transfers.toNeeded });
    if (!isAddress && !isUuid(receiver)) return;
    const name = holder.trim();
    const request = {
      ...(isAddress ? { to_email: receiver } : { to_user_id: receiver }),
      ...(name ? { holder_name: name } : {}),
    };
    void run(() => api.offerTicket(ticketId, request).catch(reloadIfRefused)).then((isOffered) => isOffered && onOffered());
  };
  const reloadIfRefused = (caught: unknown) => {
    if (toProblem(caught).status === 409) onOffered();
    throw caught;
  };

  return (
    <form
      className="ticket-offer"
      ref={form}
      onSubmit={submit}
      noValidate
      aria-label={texts.transfers.give}
      data-testid="offer-form"
    >
      <p className="fine-print">{texts.transfers.giveText}</p>
      <Field label={texts.transfers.to} value={to} onChange={setTo} error={errors.to} maxLength={254} testId="offer-to" />
      <Field label={texts.transfers.holder} value={holder} onChange={setHolder} maxLength={100} testId="offer-holder" />
      {problem && (
        <ProblemNotice problem={problem} text={problem.code === 'NOT_FOUND' ? texts.transfers.unknownFan : undefined} />
      )}
      <div className="button-row">
        <Button type="submit" tone="primary" disabled={busy} testId="offer-submit">
          {busy ? texts.transfers.offering : texts.transfers.offer}
        </Button>
        <Button onClick={onCancel} testId="offer-cancel">
          {texts.transfers.cancel}
        </Button>
      </div>
    </form>
  );
}
