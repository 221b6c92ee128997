import { webhookEvents, type WebhookEventType } from '../../../../libs/contracts/src/webhook-events.ts';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/** The form that adds a webhook. Afterwards it shows the secret, which the server never tells again. */
export function OpsWebhookForm({ onAdded }: { onAdded: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const { form, events: names } = texts.opsWebhooks;
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<readonly WebhookEventType[]>([]);
  const [isChecked, setIsChecked] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { busy, problem, run } = useAction();

  const add = async (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (url.trim() === '' || events.length === 0) return;
    const isAdded = await run(async () => setSecret((await api.opsAddWebhook({ url: url.trim(), events: [...events] })).secret));
    if (!isAdded) return;
    setUrl('');
    setEvents([]);
    setIsChecked(false);
    onAdded();
  };
  const toggle = (event: WebhookEventType) =>
    setEvents((chosen) => (chosen.includes(event) ? chosen.filter((one) => one !== event) : [...chosen, event]));

  return (
    <section className="card" aria-labelledby="add-webhook">
      <h2 id="add-webhook">{form.title}</h2>
      {problem && <ProblemNotice problem={problem} />}
      <form className="webhook-form" onSubmit={(event) => void add(event)} noValidate>
        <Field
          label={form.url}
          value={url}
          onChange={setUrl}
          maxLength={2000}
          error={isChecked && url.trim() === '' ? form.urlMissing : undefined}
          testId="webhook-url"
        />
        <fieldset className="webhook-events">
          <legend>{form.events}</legend>
          {webhookEvents.map((event) => (
            <label key={event}>
              <input
                type="checkbox"
                checked={events.includes(event)}
                onChange={() => toggle(event)}
                data-testid={`webhook-event-${event}`}
              />
              {names[event]}
            </label>
          ))}
        </fieldset>
        {isChecked && events.length === 0 && <p role="alert">{form.eventsMissing}</p>}
        <Button type="submit" tone="primary" disabled={busy} testId="webhook-add">
          {form.add}
        </Button>
      </form>
      <div role="status">
        {secret && (
          <p data-testid="webhook-secret">
            {form.secret} <code>{secret}</code>
          </p>
        )}
      </div>
    </section>
  );
}
