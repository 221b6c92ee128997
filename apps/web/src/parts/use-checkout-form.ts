import { type FormEvent, useEffect, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';
import { useTribina } from '../api/tribina-context.ts';
import type { CheckoutWish, Reservation } from '../api/types.ts';
import type { Texts } from '../text/en.ts';
import { useLanguage } from '../text/language.tsx';

/** Only what is certainly not an address is stopped here; the server judges the rest. */
const plausibleEmail = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/;

type Faults = Record<string, string>;

function faultsOf(wish: CheckoutWish, texts: Texts): Faults {
  const faults: Faults = {};
  wish.holders.forEach(({ name }, index) => {
    if (!name.trim()) faults[`holder-${index}`] = texts.checkout.nameNeeded;
  });
  if (!plausibleEmail.test(wish.email.trim())) faults.email = texts.checkout.emailNeeded;
  return faults;
}

/**
 * The server names fields as `holders.0.name` or `/holders/0/name`; ours are `holder-0` and `email`. Its messages are
 * English and meant for programmers, so the fan reads ours.
 */
function serverFaults(problem: Problem, texts: Texts): Faults {
  const faults: Faults = {};
  for (const { path } of problem.facts.errors ?? []) {
    const holder = /holders\D+(\d+)/.exec(path);
    if (holder) faults[`holder-${holder[1]}`] = texts.checkout.nameNeeded;
    else if (path.includes('email')) faults.email = texts.checkout.emailNeeded;
  }
  return faults;
}

interface CheckoutForm {
  wish: CheckoutWish;
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
  const [wish, setWish] = useState<CheckoutWish>(() => {
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
      const payment = placed.payment && { provider: placed.payment.provider, confirmUrl: placed.payment.confirm_url };
      memory.change(matchId, { orderId: placed.order_id, payment: payment ?? undefined });
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
      setWish({ ...wish, holders: wish.holders.map((holder, each) => (each === index ? { ...holder, name } : holder)) }),
    setEmail: (email) => setWish({ ...wish, email }),
    submit: (event) => {
      event.preventDefault();
      const found = faultsOf(wish, texts);
      setFaults(found);
      setProblem(undefined);
      if (Object.keys(found).length === 0) void send();
    },
  };
}
