import { useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';
import { useTribina } from '../api/tribina-context.ts';
import type { Order, PaymentOutcome } from '../api/types.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

/** The order may be settled without us: paid in another tab, cancelled, expired. */
const watchMs = 4_000;

interface PaymentPanelProps {
  order: Order;
  payment: { provider: string; confirmUrl?: string };
  onChange: () => void;
}

export function PaymentPanel({ order, payment, onChange }: PaymentPanelProps) {
  const { texts } = useLanguage();
  if (payment.confirmUrl) return <SandboxPayment order={order} confirmUrl={payment.confirmUrl} onChange={onChange} />;
  return (
    <section className="card checkout-main">
      <h2>{texts.payment.title}</h2>
      <Notice tone="warning">{texts.payment.elsewhere(payment.provider)}</Notice>
    </section>
  );
}

/** The sandbox in place of a card form: three buttons that let the provider answer one way or the other. */
function SandboxPayment({ order, confirmUrl, onChange }: { order: Order; confirmUrl: string; onChange: () => void }) {
  const { texts, format } = useLanguage();
  const { tribina } = useTribina();
  const [asking, setAsking] = useState<PaymentOutcome>();
  const [answered, setAnswered] = useState<PaymentOutcome | 'unsure'>();
  const [problem, setProblem] = useState<Problem>();

  useLoaded(
    async (signal) => {
      const now = await tribina.order(order.id, signal);
      if (now.status !== 'awaiting_payment') onChange();
      return now;
    },
    order.id,
    watchMs,
  );

  const play = async (outcome: PaymentOutcome) => {
    setAsking(outcome);
    setAnswered(undefined);
    setProblem(undefined);
    try {
      await tribina.playPayment(confirmUrl, outcome);
      if (outcome === 'succeeded') return navigate(paths.order(order.id));
      setAnswered(outcome);
    } catch (caught) {
      const met = asProblem(caught);
      // Silence after "pay" may be a payment: say so, keep watching the order, never a second charge on our own.
      if (met.code === 'UNREACHABLE' && outcome === 'succeeded') setAnswered('unsure');
      else setProblem(met);
    } finally {
      setAsking(undefined);
    }
  };

  return (
    <section className="card checkout-main payment" data-testid="payment" data-order-id={order.id}>
      <h2>{texts.payment.title}</h2>
      <p className="fine-print">
        {texts.checkout.orderNumber} {order.number}
      </p>
      <p className="payment-amount" data-testid="payment-amount">
        {format.money(order.total_cents, order.currency)}
      </p>
      <Notice tone="info">
        <p>
          <strong>{texts.payment.sandbox}</strong> {texts.payment.sandboxText}
        </p>
      </Notice>
      {answered === 'failed' && <Notice tone="bad">{texts.payment.declined}</Notice>}
      {answered === 'abandoned' && <Notice tone="warning">{texts.payment.abandoned}</Notice>}
      {answered === 'unsure' && <Notice tone="warning">{texts.payment.unsure}</Notice>}
      {problem && <ProblemNotice problem={problem} />}
      <button
        type="button"
        className="button button-primary button-wide"
        disabled={asking !== undefined}
        onClick={() => void play('succeeded')}
        data-testid="pay"
      >
        {asking === 'succeeded' ? texts.payment.sending : texts.payment.pay(format.money(order.total_cents, order.currency))}
      </button>
      <div className="button-row payment-others">
        <button
          type="button"
          className="button"
          disabled={asking !== undefined}
          onClick={() => void play('failed')}
          data-testid="decline"
        >
          {texts.payment.decline}
        </button>
        <button
          type="button"
          className="button"
          disabled={asking !== undefined}
          onClick={() => void play('abandoned')}
          data-testid="abandon"
        >
          {texts.payment.abandon}
        </button>
      </div>
    </section>
  );
}
