import type { OpsMatch } from '#contracts/matches';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Loading } from './notice.tsx';
import { OpsOrderCard } from './ops-order-card.tsx';
import { useLoaded } from './use-loaded.ts';

/** The search of operators for an order, by a part of its number, e-mail address, holders' names or ticket ids. Nothing is listed before a search. */
export function OpsOrders({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const [input, setInput] = useState('');
  const [searchText, setSearchText] = useState<string>();
  const key = searchText === undefined ? undefined : `orders ${match.id} ${searchText}`;
  const { value, problem, reload } = useLoaded((signal) => api.opsOrders(match.id, searchText ?? '', signal), key);

  const search = (event: FormEvent) => {
    event.preventDefault();
    if (searchText === input.trim()) reload();
    setSearchText(input.trim() || undefined);
  };

  return (
    <section className="ops-orders" aria-label={texts.ops.refund.title}>
      <h3>{texts.ops.refund.title}</h3>
      <form className="ops-fields" onSubmit={search} noValidate>
        <Field label={texts.ops.refund.find} value={input} onChange={setInput} maxLength={254} testId="ops-find" />
        <Button type="submit" testId="ops-search">
          {texts.ops.refund.search}
        </Button>
      </form>
      {problem && <Loading problem={problem} onRetry={reload} />}
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
