import type { Order } from '#contracts/orders';
import type { SandboxOutcome } from '#contracts/payments';
import { useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';
import { useAppServices } from '../api/app-services.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

/** How often the panel reads the order again, because the order can be paid in another tab, be cancelled or expire. */
const orderPollMs = 4_000;

interface PaymentPanelProps {
  order: Order;
  payment: { provider: string; confirmUrl?: string };
  onChange: () => void;
}

/** The step of the checkout in which the fan pays. */
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

/** The payment with the sandbox. Instead of a card form, three buttons choose the answer of the simulated payment provider. */
function SandboxPayment({ order, confirmUrl, onChange }: { order: Order; confirmUrl: string; onChange: () => void }) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const [pendingOutcome, setPendingOutcome] = useState<SandboxOutcome>();
  const [lastOutcome, setLastOutcome] = useState<SandboxOutcome | 'unsure'>();
  const [problem, setProblem] = useState<Problem>();

  useLoaded(
    async (signal) => {
      const polled = await api.order(order.id, signal);
      if (polled.status !== 'awaiting_payment') onChange();
      return polled;
    },
    order.id,
    orderPollMs,
  );

  const simulate = async (outcome: SandboxOutcome) => {
    setPendingOutcome(outcome);
    setLastOutcome(undefined);
    setProblem(undefined);
    try {
      await api.simulatePayment(confirmUrl, outcome);
      if (outcome === 'succeeded') return navigate(paths.order(order.id));
      setLastOutcome(outcome);
    } catch (caught) {
      const problem = toProblem(caught);
      // Without an answer the payment may still have succeeded. The page says so and keeps polling the order; it never repeats
      // the payment by itself.
      if (problem.code === 'UNREACHABLE' && outcome === 'succeeded') setLastOutcome('unsure');
      else setProblem(problem);
    } finally {
      setPendingOutcome(undefined);
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
      {lastOutcome === 'failed' && <Notice tone="bad">{texts.payment.declined}</Notice>}
      {lastOutcome === 'abandoned' && <Notice tone="warning">{texts.payment.abandoned}</Notice>}
      {lastOutcome === 'unsure' && <Notice tone="warning">{texts.payment.unsure}</Notice>}
      {problem && <ProblemNotice problem={problem} />}
      <button
        type="button"
        className="button button-primary button-wide"
        disabled={pendingOutcome !== undefined}
        onClick={() => void simulate('succeeded')}
        data-testid="pay"
      >
        {pendingOutcome === 'succeeded'
          ? texts.payment.sending
          : texts.payment.pay(format.money(order.total_cents, order.currency))}
      </button>
      <div className="button-row payment-others">
        <button
          type="button"
          className="button"
          disabled={pendingOutcome !== undefined}
          onClick={() => void simulate('failed')}
          data-testid="decline"
        >
          {texts.payment.decline}
        </button>
        <button
          type="button"
          className="button"
          disabled={pendingOutcome !== undefined}
          onClick={() => void simulate('abandoned')}
          data-testid="abandon"
        >
          {texts.payment.abandon}
        </button>
      </div>
    </section>
  );
}
