import type { Order } from '#contracts/orders';
import type { SandboxOutcome } from '#contracts/payments';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { navigate, paths } from '../routes.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';
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
  const amount = format.money(order.total_cents, order.currency);
  const [outcome, setOutcome] = useState<SandboxOutcome>();
  const { busy, problem, run } = useAction();
  // Without an answer the payment may still have succeeded. The page says so and keeps polling the order; it never repeats the
  // payment by itself.
  const isUnsure = problem?.code === 'UNREACHABLE' && outcome === 'succeeded';

  const poll = async (signal: AbortSignal) => {
    const polled = await api.order(order.id, signal);
    if (polled.status !== 'awaiting_payment') onChange();
  };
  useLoaded(poll, order.id, orderPollMs);

  const simulate = (chosen: SandboxOutcome) => {
    setOutcome(chosen);
    void run(async () => {
      await api.simulatePayment(confirmUrl, chosen);
      if (chosen === 'succeeded') navigate(paths.order(order.id));
    });
  };
  const isAnswered = !busy && !problem;

  return (
    <section className="card checkout-main payment" data-testid="payment" data-order-id={order.id}>
      <h2>{texts.payment.title}</h2>
      <p className="fine-print">
        {texts.checkout.orderNumber} {order.number}
      </p>
      <p className="payment-amount" data-testid="payment-amount">
        {amount}
      </p>
      <Notice tone="info">
        <p>
          <strong>{texts.payment.sandbox}</strong> {texts.payment.sandboxText}
        </p>
      </Notice>
      {isAnswered && outcome === 'failed' && <Notice tone="bad">{texts.payment.declined}</Notice>}
      {isAnswered && outcome === 'abandoned' && <Notice tone="warning">{texts.payment.abandoned}</Notice>}
      {isUnsure && <Notice tone="warning">{texts.payment.unsure}</Notice>}
      {problem && !isUnsure && <ProblemNotice problem={problem} />}
      <Button tone="primary" wide disabled={busy} onClick={() => simulate('succeeded')} testId="pay">
        {busy && outcome === 'succeeded' ? texts.payment.sending : texts.payment.pay(amount)}
      </Button>
      <div className="button-row payment-others">
        <Button disabled={busy} onClick={() => simulate('failed')} testId="decline">
          {texts.payment.decline}
        </Button>
        <Button disabled={busy} onClick={() => simulate('abandoned')} testId="abandon">
          {texts.payment.abandon}
        </Button>
      </div>
    </section>
  );
}
