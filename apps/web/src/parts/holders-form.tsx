import { useEffect, useRef } from 'react';
import type { Reservation } from '../api/types.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Field } from './field.tsx';
import { Link } from './link.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useCheckoutForm } from './use-checkout-form.ts';

const longestName = 100;
const longestEmail = 254;

export function HoldersForm({ reservation, onPlaced }: { reservation: Reservation; onPlaced: () => void }) {
  const { texts } = useLanguage();
  const { wish, faults, problem, busy, setName, setEmail, submit } = useCheckoutForm(reservation, onPlaced);
  const matchId = reservation.match_id;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(faults).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [faults]);

  const wrong = Object.keys(faults).length;
  return (
    <form className="card checkout-main" ref={form} onSubmit={submit} noValidate data-testid="holders-form">
      <fieldset>
        <legend>{texts.checkout.holdersTitle}</legend>
        <p className="fine-print">{texts.checkout.holdersText}</p>
        {reservation.seats.map((seat, index) => (
          <Field
            key={seat.seat_id}
            label={texts.checkout.holderName}
            hint={`${seat.sector} · ${texts.seats.place(seat.row, seat.number)}`}
            value={wish.holders[index]?.name ?? ''}
            onChange={(name) => setName(index, name)}
            fault={faults[`holder-${index}`]}
            autoComplete={index === 0 ? 'name' : 'off'}
            maxLength={longestName}
            testId={`holder-name-${index}`}
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>{texts.checkout.emailTitle}</legend>
        <Field
          label={texts.checkout.email}
          hint={texts.checkout.emailHint}
          type="email"
          value={wish.email}
          onChange={setEmail}
          fault={faults.email}
          autoComplete="email"
          maxLength={longestEmail}
          testId="email"
        />
      </fieldset>
      {wrong > 0 && !problem && <Notice tone="bad">{texts.checkout.fixErrors(wrong)}</Notice>}
      {problem && (
        <ProblemNotice problem={problem}>
          {problem.facts.order_id && <Link to={paths.order(problem.facts.order_id)}>{texts.order.toPayment}</Link>}
          {problem.code === 'RESERVATION_EXPIRED' && <Link to={paths.match(matchId)}>{texts.checkout.chooseAgain}</Link>}
        </ProblemNotice>
      )}
      <button type="submit" className="button button-primary button-wide" disabled={busy} data-testid="place-order">
        {busy ? texts.checkout.placing : reservation.total_cents === 0 ? texts.checkout.placeFree : texts.checkout.place}
      </button>
    </form>
  );
}
