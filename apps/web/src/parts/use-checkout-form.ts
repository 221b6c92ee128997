import { type FormEvent, useEffect, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';
import { useTribina } from '../api/tribina-context.ts';
import type { CheckoutRequest, Reservation } from '../api/types.ts';
import { rememberedCheckout } from '../purchase-memory.ts';
import { useLanguage } from '../text/language.tsx';
import { type Faults, faultsOf, serverFaults } from './checkout-faults.ts';

interface CheckoutForm {
  wish: CheckoutRequest;
  faults: Faults;
  problem: Problem | undefined;
  busy: boolean;
  setName(index: number, name: string): void;
  setEmail(email: string): void;
  submit(event: FormEvent): void;
}

/** What has been typed (kept while the tab lives), what is wrong with it, and sending it. */
export function useCheckoutForm(reservation: Reservation, onPlaced: () => void): CheckoutForm {
  const { texts } = useLanguage();
  const { tribina, memory } = useTribina();
  const matchId = reservation.match_id;
  const [wish, setChoice] = useState<CheckoutRequest>(() => {
    const kept = memory.readHolders(matchId);
    const holders = reservation.seats.map(({ seat_id }) => ({
      seat_id,
      name: kept?.holders.find((holder) => holder.seat_id === seat_id)?.name ?? '',
    }));
    return { holders, email: kept?.email ?? '' };
  });
  const [faults, setFaults] = useState<Faults>({});
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  useEffect(() => memory.writeHolders(matchId, wish), [memory, matchId, wish]);

  const send = async () => {
    setBusy(true);
    try {
      const holders = wish.holders.map((holder) => ({ ...holder, name: holder.name.trim() }));
      const placed = await tribina.checkout(reservation.id, { holders, email: wish.email.trim() });
      memory.change(matchId, rememberedCheckout(placed));
      onPlaced();
    } catch (caught) {
      const met = asProblem(caught);
      setFaults(serverFaults(met, texts));
      setProblem(met);
    } finally {
      setBusy(false);
    }
  };

  return {
    wish,
    faults,
    problem,
    busy,
    setName: (index, name) =>
      setChoice({ ...wish, holders: wish.holders.map((holder, each) => (each === index ? { ...holder, name } : holder)) }),
    setEmail: (email) => setChoice({ ...wish, email }),
    submit: (event) => {
      event.preventDefault();
      const found = faultsOf(wish, texts);
      setFaults(found);
      setProblem(undefined);
      if (Object.keys(found).length === 0) void send();
    },
  };
}
