import { useCallback, useEffect, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';
import { serverNow } from '../api/server-clock.ts';
import { useTribina } from '../api/tribina-context.ts';
import type { HoldRequest, Reservation } from '../api/types.ts';
import { endsWithItsTime, isStillTheFans } from '../purchase-memory.ts';

export interface Hold {
  loading: boolean;
  reservation: Reservation | undefined;
  /** The last hold ran out while the fan was looking. */
  expired: boolean;
  busy: boolean;
  problem: Problem | undefined;
  take(wish: HoldRequest): void;
  release(): void;
  runOut(): void;
}

interface Turn {
  sessionToken: string | undefined;
  onTurnRefused: () => void;
}

/** The fan's seats on hold for this match; found again after a reload. */
export function useHold(matchId: string, { sessionToken, onTurnRefused }: Turn): Hold {
  const { tribina, memory } = useTribina();
  const [reservation, setReservation] = useState<Reservation>();
  const [loading, setLoading] = useState(() => memory.read(matchId).reservationId !== undefined);
  const [expired, setExpired] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  useEffect(() => {
    const { reservationId } = memory.read(matchId);
    if (!reservationId) return;
    const stop = new AbortController();
    tribina
      .reservation(reservationId, stop.signal)
      .then((found) => {
        if (stop.signal.aborted) return;
        if (isStillTheFans(found, serverNow())) setReservation(found);
        else memory.forgetPurchase(matchId);
        setLoading(false);
      })
      .catch((caught: unknown) => {
        if (stop.signal.aborted) return;
        const met = asProblem(caught);
        if (met.status === 404) memory.forgetPurchase(matchId);
        else setProblem(met);
        setLoading(false);
      });
    return () => stop.abort();
  }, [matchId, memory, tribina]);

  const attempt = useCallback(async (action: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    setExpired(false);
    try {
      await action();
    } catch (caught) {
      setProblem(asProblem(caught));
    } finally {
      setBusy(false);
    }
  }, []);

  const take = (wish: HoldRequest) =>
    attempt(async () => {
      try {
        const taken = await tribina.hold(matchId, wish, sessionToken);
        memory.forgetPurchase(matchId);
        memory.change(matchId, { reservationId: taken.id });
        setReservation(taken);
      } catch (caught) {
        const { code } = asProblem(caught);
        if (code === 'PURCHASE_WINDOW_REQUIRED' || code === 'PURCHASE_WINDOW_EXPIRED') onTurnRefused();
        throw caught;
      }
    });

  const release = () =>
    attempt(async () => {
      if (!reservation) return;
      await tribina.release(reservation.id);
      memory.forgetPurchase(matchId);
      setReservation(undefined);
    });

  const runOut = () => {
    if (!reservation || !endsWithItsTime(reservation)) return;
    memory.forgetPurchase(matchId);
    setReservation(undefined);
    setExpired(true);
  };

  return {
    loading,
    reservation,
    expired,
    busy,
    problem,
    take: (wish) => void take(wish),
    release: () => void release(),
    runOut,
  };
}
