import type { HoldRequest, Reservation } from '#contracts/reservations';
import { useEffect, useState } from 'react';
import { toProblem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import { useAppServices } from '../api/app-services.ts';
import { endsAtExpiry, isReservationActive } from '../purchase-store.ts';
import { useAction } from './use-action.ts';

/** The fan's hold for one match, and the actions on it. */
export type Hold = ReturnType<typeof useHold>;

interface HoldOptions {
  sessionToken: string | undefined;
  onTurnRefused: () => void;
}

/** Loads and changes the fan's hold for this match. The hold is restored after a reload of the page. */
export function useHold(matchId: string, { sessionToken, onTurnRefused }: HoldOptions) {
  const { api, purchaseStore } = useAppServices();
  const [reservation, setReservation] = useState<Reservation>();
  const [isLoading, setIsLoading] = useState(() => purchaseStore.read(matchId).reservationId !== undefined);
  /** True if the hold has just expired while this page was open. The next hold or release sets it to false. */
  const [hasExpired, setHasExpired] = useState(false);
  const { busy, problem, setProblem, run } = useAction();

  useEffect(() => {
    const { reservationId } = purchaseStore.read(matchId);
    if (!reservationId) return;
    const stop = new AbortController();
    api
      .reservation(reservationId, stop.signal)
      .then((found) => {
        if (stop.signal.aborted) return;
        if (isReservationActive(found, serverNow())) setReservation(found);
        else purchaseStore.forgetPurchase(matchId);
        setIsLoading(false);
      })
      .catch((caught: unknown) => {
        if (stop.signal.aborted) return;
        const problem = toProblem(caught);
        if (problem.status === 404) purchaseStore.forgetPurchase(matchId);
        else setProblem(problem);
        setIsLoading(false);
      });
    return () => stop.abort();
  }, [matchId, purchaseStore, api, setProblem]);

  const attempt = (action: () => Promise<void>) => {
    setHasExpired(false);
    void run(action);
  };

  const holdSeats = (request: HoldRequest) =>
    attempt(async () => {
      try {
        const held = await api.hold(matchId, request, sessionToken);
        purchaseStore.forgetPurchase(matchId);
        purchaseStore.update(matchId, { reservationId: held.id });
        setReservation(held);
      } catch (caught) {
        const { code } = toProblem(caught);
        if (code === 'PURCHASE_WINDOW_REQUIRED' || code === 'PURCHASE_WINDOW_EXPIRED') onTurnRefused();
        throw caught;
      }
    });

  const release = () =>
    attempt(async () => {
      if (!reservation) return;
      await api.release(reservation.id);
      purchaseStore.forgetPurchase(matchId);
      setReservation(undefined);
    });

  const endAtExpiry = () => {
    if (!reservation || !endsAtExpiry(reservation)) return;
    purchaseStore.forgetPurchase(matchId);
    setReservation(undefined);
    setHasExpired(true);
  };

  return { isLoading, reservation, hasExpired, isBusy: busy, problem, holdSeats, release, endAtExpiry };
}
