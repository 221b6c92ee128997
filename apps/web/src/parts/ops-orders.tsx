import { type FormEvent, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { OpsMatch } from '../api/types.ts';
import { useLanguage } from '../text/language.tsx';
import { Field } from './field.tsx';
import { OpsOrderCard } from './ops-order-card.tsx';
import { Failed } from './loading.tsx';
import { useLoaded } from './use-loaded.ts';

/** The order somebody calls about: found by its number or the whole e-mail address. Lists nothing unasked. */
export function OpsOrders({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts } = useLanguage();
  const { tribina } = useTribina();
  const [wanted, setWanted] = useState('');
  const [asked, setAsked] = useState<string>();
  const key = asked === undefined ? undefined : `orders ${match.id} ${asked}`;
  const { value, problem, reload } = useLoaded((signal) => tribina.opsOrders(match.id, asked ?? '', signal), key);

  const search = (event: FormEvent) => {
    event.preventDefault();
    if (asked === wanted.trim()) reload();
    setAsked(wanted.trim() || undefined);
  };

  return (
    <section className="ops-orders" aria-label={texts.ops.refund.title}>
      <h3>{texts.ops.refund.title}</h3>
      <form className="ops-fields" onSubmit={search} noValidate>
        <Field
          label={texts.ops.refund.find}
          value={wanted}
          onChange={setWanted}
          autoComplete="off"
          maxLength={254}
          testId="ops-find"
        />
        <button type="submit" className="button" data-testid="ops-search">
          {texts.ops.refund.search}
        </button>
      </form>
      {problem && <Failed problem={problem} onRetry={reload} />}
      {value?.items.length === 0 && (
        <p className="empty" data-testid="ops-nothing-found">
          {texts.ops.refund.nothing}
        </p>
      )}
      <ul className="ops-found">
        {value?.items.map((order) => (
          <OpsOrderCard
            key={order.id}
            order={order}
            onChange={() => {
              reload();
              onChange();
            }}
          />
        ))}
      </ul>
    </section>
  );
}
