import type { Match } from '#contracts/matches';
import type { Transfer } from '#contracts/transfers';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { matchTitle } from '../text/match-title.ts';
import { Button, ConfirmButton } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

interface OfferCardProps {
  offer: Transfer;
  match: Match | undefined;
  /** The name in the profile of the fan, if the giver suggests none. */
  ownName: string;
  onChange: () => void;
}

/** A ticket that another fan offers, with the form to accept it and the button to decline it. */
export function OfferCard({ offer, match, ownName, onChange }: OfferCardProps) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [name, setName] = useState(offer.holder_name ?? ownName);
  const { seat } = offer;

  const accept = async (event: FormEvent) => {
    event.preventDefault();
    const holder = name.trim();
    if (await run(() => api.acceptTransfer(offer.id, holder ? { holder_name: holder } : {}))) navigate(paths.tickets);
  };
  const decline = async () => {
    if (await run(() => api.declineTransfer(offer.id))) onChange();
  };
  return (
    <li className="card stage" data-testid="offer" data-offer-id={offer.id}>
      <h2>{match ? matchTitle(match) : ' '}</h2>
      {match && (
        <p>
          <time dateTime={match.kickoff_at}>{format.dateTime(match.kickoff_at)}</time>, {match.venue}
        </p>
      )}
      <p>
        <strong>{`${seat.sector} · ${texts.seats.seatLabel(seat.row, seat.number)}`}</strong>
      </p>
      <p className="fine-print">{texts.transfers.until(format.dateTime(offer.expires_at))}</p>
      {match?.transfers === 'locked' && <Notice tone="warning">{texts.transfers.locked}</Notice>}
      <form className="ticket-offer" onSubmit={(event) => void accept(event)} noValidate>
        <Field
          label={texts.transfers.acceptName}
          value={name}
          onChange={setName}
          autoComplete="name"
          maxLength={100}
          testId="accept-name"
        />
        {problem && (
          <ProblemNotice problem={problem}>
            {problem.code === 'INVALID_STATE' && <Button onClick={onChange}>{texts.common.retry}</Button>}
          </ProblemNotice>
        )}
        <Button type="submit" tone="primary" wide disabled={busy} testId="accept-offer">
          {busy ? texts.transfers.accepting : texts.transfers.accept}
        </Button>
      </form>
      <ConfirmButton texts={texts.transfers.decline} onConfirm={() => void decline()} disabled={busy} testId="decline-offer" />
    </li>
  );
}
