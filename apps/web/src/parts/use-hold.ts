import type { HoldRequest, Reservation } from '#contracts/reservations';
import { useCallback, useEffect, useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import { useAppServices } from '../api/app-services.ts';
import { endsAtExpiry, isReservationActive } from '../purchase-store.ts';

/** The fan's hold for one match, and the actions on it. */
export interface Hold {
  isLoading: boolean;
  reservation: Reservation | undefined;
  /** True if the hold has just expired while this page was open. The next hold or release sets it to false. */
  hasExpired: boolean;
  isBusy: boolean;
  problem: Problem | undefined;
  holdSeats(request: HoldRequest): void;
  release(): void;
  endAtExpiry(): void;
}

interface HoldOptions {
  sessionToken: string | undefined;
  onTurnRefused: () => void;
}

/** Loads and changes the fan's hold for this match. The hold is restored after a reload of the page. */
export function useHold(matchId: string, { sessionToken, onTurnRefused }: HoldOptions): Hold {
  const { api, purchaseStore } = useAppServices();
  const [reservation, setReservation] = useState<Reservation>();
  const [isLoading, setIsLoading] = useState(() => purchaseStore.read(matchId).reservationId !== undefined);
  const [hasExpired, setHasExpired] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

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
  }, [matchId, purchaseStore, api]);

  const attempt = useCallback(async (action: () => Promise<void>) => {
    setIsBusy(true);
    setProblem(undefined);
    setHasExpired(false);
    try {
      await action();
    } catch (caught) {
      setProblem(toProblem(caught));
    } finally {
      setIsBusy(false);
    }
  }, []);

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

  return {
    isLoading,
    reservation,
    hasExpired,
    isBusy,
    problem,
    holdSeats: (request) => void holdSeats(request),
    release: () => void release(),
    endAtExpiry,
  };
}
