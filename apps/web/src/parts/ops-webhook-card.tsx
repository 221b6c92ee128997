import type { Webhook, WebhookDelivery } from '#contracts/webhooks';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button, ConfirmButton } from './button.tsx';
import { Loading, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

const refreshMs = 5_000;
const maxPages = 10;

interface OpsWebhookCardProps {
  webhook: Webhook;
  isOpen: boolean;
  onToggle: () => void;
  onChange: () => void;
}

/** A webhook, with what was sent to it when it is open. */
export function OpsWebhookCard({ webhook, isOpen, onToggle, onChange }: OpsWebhookCardProps) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const webhooks = texts.opsWebhooks;
  const { pending, failed } = webhook.deliveries;
  const remove = async () => {
    if (await run(() => api.opsRemoveWebhook(webhook.id))) onChange();
  };
  return (
    <li className="card webhook-card" data-testid="webhook">
      <h3>
        <code>{webhook.url}</code>
      </h3>
      <p>{webhook.events.map((event) => webhooks.events[event]).join(' · ')}</p>
      <p className="fine-print">
        {webhooks.since(format.dateTime(webhook.created_at))} · {webhooks.counts(pending, failed)}
      </p>
      {problem && <ProblemNotice problem={problem} />}
      <Button onClick={onToggle} aria-expanded={isOpen} testId="webhook-deliveries">
        {webhooks.deliveries}
      </Button>{' '}
      <ConfirmButton texts={webhooks.remove} disabled={busy} onConfirm={() => void remove()} testId="webhook-remove" />
      {isOpen && <Deliveries webhookId={webhook.id} onChange={onChange} />}
    </li>
  );
}

function Deliveries({ webhookId, onChange }: { webhookId: string; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const [pages, setPages] = useState(1);
  const key = `${webhookId} ${pages}`;
  const { value, problem, reload } = useLoaded((signal) => api.opsWebhookDeliveries(webhookId, pages, signal), key, refreshMs);
  const { busy, problem: refusal, run } = useAction();
  const webhooks = texts.opsWebhooks;
  const sendAgain = async (id: string) => {
    await run(() => api.opsRetryWebhookDelivery(webhookId, id));
    reload();
    onChange();
  };
  return (
    <section aria-label={webhooks.deliveries}>
      {(refusal ?? problem) && value && <ProblemNotice problem={(refusal ?? problem)!} />}
      {!value && <Loading problem={problem} onRetry={reload} />}
      {value?.items.length === 0 && <p className="empty">{webhooks.noDeliveries}</p>}
      <ul className="job-list">
        {value?.items.map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} isBusy={busy} onSendAgain={() => void sendAgain(delivery.id)} />
        ))}
      </ul>
      {value?.isMore && pages < maxPages && <Button onClick={() => setPages(pages + 1)}>{webhooks.more}</Button>}
    </section>
  );
}

interface DeliveryProps {
  delivery: WebhookDelivery;
  isBusy: boolean;
  onSendAgain: () => void;
}

function Delivery({ delivery, isBusy, onSendAgain }: DeliveryProps) {
  const { texts, format } = useStaffLanguage();
  const webhooks = texts.opsWebhooks;
  return (
    <li className="webhook-delivery" data-testid="webhook-delivery" data-state={delivery.state}>
      <p>
        <strong>{webhooks.states[delivery.state]}</strong> · {webhooks.events[delivery.type]} ·{' '}
        <time dateTime={delivery.created_at}>{format.dateTime(delivery.created_at)}</time> ·{' '}
        {webhooks.attempts(delivery.attempts)}
        {delivery.last_error && ` · ${delivery.last_error}`}
      </p>
      <details>
        <summary>{webhooks.body}</summary>
        <p className="webhook-body">
          <code>{delivery.body}</code>
        </p>
      </details>
      <Button onClick={onSendAgain} disabled={isBusy} testId="webhook-retry">
        {webhooks.sendAgain}
      </Button>
    </li>
  );
}
