import type { CheckOutRequest } from '#contracts/orders';
import type { Reservation } from '#contracts/reservations';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { toStoredPurchase } from '../purchase-store.ts';
import { useLanguage } from '../text/language.tsx';
import { type FieldErrors, validateCheckout, serverFieldErrors } from './checkout-errors.ts';
import { useAction } from './use-action.ts';

/**
 * The state of the checkout form: the fan's input (stored until the tab is closed), its errors, and the function that sends it.
 */
export function useCheckoutForm(reservation: Reservation, onPlaced: () => void) {
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
