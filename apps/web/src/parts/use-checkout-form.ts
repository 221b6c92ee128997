import type { CheckOutRequest } from '#contracts/orders';
import type { Reservation } from '#contracts/reservations';
import { type FormEvent, useEffect, useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';
import { useAppServices } from '../api/app-services.ts';
import { toStoredPurchase } from '../purchase-store.ts';
import { useLanguage } from '../text/language.tsx';
import { type FieldErrors, validateCheckout, serverFieldErrors } from './checkout-errors.ts';

interface CheckoutForm {
  request: CheckOutRequest;
  errors: FieldErrors;
  problem: Problem | undefined;
  busy: boolean;
  setName(index: number, name: string): void;
  setEmail(email: string): void;
  submit(event: FormEvent): void;
}

/**
 * The state of the checkout form: the fan's input (stored until the tab is closed), its errors, and the function that sends it.
 */
export function useCheckoutForm(reservation: Reservation, onPlaced: () => void): CheckoutForm {
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
  const [errors, setErrors] = useState<FieldErrors>({});
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  useEffect(() => purchaseStore.writeHolders(matchId, request), [purchaseStore, matchId, request]);

  const send = async () => {
    setBusy(true);
    try {
      const holders = request.holders.map((holder) => ({ ...holder, name: holder.name.trim() }));
      const placed = await api.checkout(reservation.id, { holders, email: request.email.trim() });
      purchaseStore.update(matchId, toStoredPurchase(placed));
      onPlaced();
    } catch (caught) {
      const problem = toProblem(caught);
      setErrors(serverFieldErrors(problem, texts));
      setProblem(problem);
    } finally {
      setBusy(false);
    }
  };

  return {
    request,
    errors,
    problem,
    busy,
    setName: (index, name) =>
      setRequest({
        ...request,
        holders: request.holders.map((holder, holderIndex) => (holderIndex === index ? { ...holder, name } : holder)),
      }),
    setEmail: (email) => setRequest({ ...request, email }),
    submit: (event) => {
      event.preventDefault();
      const found = validateCheckout(request, texts);
      setErrors(found);
      setProblem(undefined);
      if (Object.keys(found).length === 0) void send();
    },
  };
}
