import type { OpsOrder } from '#contracts/orders';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsRecorded } from './ops-recorded.tsx';
import { useMay } from './role-needed.tsx';
import { useAction } from './use-action.ts';

/** Puts the fan who bought an order on the blacklist. The form opens on request and requires a reason. */
export function OpsOrderBlacklist({ order }: { order: OpsOrder }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const { busy, problem, run } = useAction();
  const [stage, setStage] = useState<'closed' | 'open' | 'done'>('closed');
  const [reason, setReason] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  const { fromOrder, reason: reasonLabel, reasonNeeded } = texts.ops.blacklist;
  const hasReason = reason.trim() !== '';

  const add = async (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (!hasReason) return;
    if (await run(() => api.opsAddToBlacklist({ user_id: order.user_id, reason: reason.trim() }))) setStage('done');
  };

  if (!useMay('ops:lists')) return null;
  if (stage === 'done') {
    return (
      <Notice tone="good" testId="ops-order-listed">
        <p>{fromOrder.done(order.email)}</p>
        <OpsRecorded action="putOnBlacklist" />
      </Notice>
    );
  }
  if (stage === 'closed') {
    return (
      <Button tone="quiet" onClick={() => setStage('open')} testId="ops-order-list">
        {fromOrder.label}
      </Button>
    );
  }
  return (
    <form className="confirm" aria-label={fromOrder.label} onSubmit={(event) => void add(event)} noValidate>
      <p>{fromOrder.question(order.email)}</p>
      {problem && <ProblemNotice problem={problem} />}
      <Field
        label={reasonLabel}
        value={reason}
        onChange={setReason}
        maxLength={200}
        error={isChecked && !hasReason ? reasonNeeded : undefined}
        testId="ops-order-list-reason"
      />
      <div className="button-row">
        <Button type="submit" tone="danger" disabled={busy} testId="ops-order-list-yes">
          {fromOrder.yes}
        </Button>
        <Button onClick={() => setStage('closed')}>{fromOrder.no}</Button>
      </div>
    </form>
  );
}
