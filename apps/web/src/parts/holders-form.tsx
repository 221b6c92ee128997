import type { CheckOutRequest } from '#contracts/orders';
import type { Reservation } from '#contracts/reservations';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { toStoredPurchase } from '../purchase-store.ts';
import { paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { type FieldErrors, validateCheckout, serverFieldErrors } from './checkout-errors.ts';
import { Field } from './field.tsx';
import { Link } from './link.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

const maxNameLength = 100;
const maxEmailLength = 254;

/** The checkout form: the name of each ticket holder and an e-mail address. */
export function HoldersForm({ reservation, onPlaced }: { reservation: Reservation; onPlaced: () => void }) {
  const { texts } = useLanguage();
  const { request, errors, problem, busy, setName, setEmail, submit } = useCheckoutForm(reservation, onPlaced);
  const matchId = reservation.match_id;
  const { isInvited } = useAppServices().purchaseStore.read(matchId);
  const form = useFaultFocus(errors);

  const errorCount = Object.keys(errors).length;
  return (
    <form className="card checkout-main" ref={form} onSubmit={submit} noValidate data-testid="holders-form">
      <fieldset>
        <legend>{texts.checkout.holdersTitle}</legend>
        <p className="fine-print">{texts.checkout.holdersText}</p>
        {reservation.seats.map((seat, index) => (
          <Field
            key={seat.seat_id}
            label={texts.checkout.holderName}
            hint={`${seat.sector} · ${texts.seats.seatLabel(seat.row, seat.number)}`}
            value={request.holders[index]?.name ?? ''}
            onChange={(name) => setName(index, name)}
            error={errors[`holder-${index}`]}
            autoComplete={index === 0 ? 'name' : 'off'}
            maxLength={maxNameLength}
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
          value={request.email}
          onChange={setEmail}
          error={errors.email}
          autoComplete="email"
          maxLength={maxEmailLength}
          testId="email"
        />
      </fieldset>
      {errorCount > 0 && !problem && <Notice tone="bad">{texts.checkout.fixErrors(errorCount)}</Notice>}
      {problem && (
        <ProblemNotice problem={problem}>
          {problem.members.order_id && <Link to={paths.order(problem.members.order_id)}>{texts.order.toPayment}</Link>}
          {problem.code === 'RESERVATION_EXPIRED' && (
            <Link to={isInvited ? paths.invitation : paths.match(matchId)}>
              {isInvited ? texts.invitation.back : texts.checkout.chooseAgain}
            </Link>
          )}
        </ProblemNotice>
      )}
      <Button type="submit" tone="primary" wide disabled={busy} testId="place-order">
        {busy ? texts.checkout.submitting : reservation.total_cents === 0 ? texts.checkout.submitFree : texts.checkout.submit}
      </Button>
    </form>
  );
}

/**
 * The state of the checkout form: the fan's input (stored until the tab is closed), its errors, and the function that sends it.
 */
function useCheckoutForm(reservation: Reservation, onPlaced: () => void) {
  const { texts } = useLanguage();
  const { api, purchaseStore } = useAppServices();
  const matchId = reservation.match_id;
  const [request, setRequest] = useState<CheckOutRequest>(() => {
    const stored = purchaseStore.readHolders(matchId);
    const holders = reservation.seats.map(({ seat_id }) => ({
      seat_id,
      name: stored?.holders.find((holder) => holder.seat_id === seat_id)?.name ?? '',
    }));
    return { holders, email: stored?.email ?? '' };
  });
  const [found, setFound] = useState<FieldErrors>({});
  const { busy, problem, setProblem, run } = useAction();
  const errors = useMemo(() => (problem ? serverFieldErrors(problem, texts) : found), [problem, found, texts]);
  useEffect(() => purchaseStore.writeHolders(matchId, request), [purchaseStore, matchId, request]);

  const send = async () => {
    const holders = request.holders.map((holder) => ({ ...holder, name: holder.name.trim() }));
    const placed = await api.checkout(reservation.id, { holders, email: request.email.trim() });
    purchaseStore.update(matchId, toStoredPurchase(placed));
    onPlaced();
  };

  return {
    request,
    errors,
    problem,
    busy,
    setName: (index: number, name: string) => {
      const holders = request.holders.map((holder, holderIndex) => (holderIndex === index ? { ...holder, name } : holder));
      setRequest({ ...request, holders });
    },
    setEmail: (email: string) => setRequest({ ...request, email }),
    submit: (event: FormEvent) => {
      event.preventDefault();
      const invalid = validateCheckout(request, texts);
      setFound(invalid);
      setProblem(undefined);
      if (Object.keys(invalid).length === 0) void run(send);
    },
  };
}
