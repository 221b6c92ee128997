import type { OpsMatch, SaleAction, SaleStatus } from '#contracts/matches';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button, ConfirmButton } from './button.tsx';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/**
 * The actions that the state of a sale allows (CONTRACT §5): open a scheduled or closed sale, pause an open sale, resume a paused
 * sale, close any sale.
 */
const actionsByStatus: Record<SaleStatus, SaleAction[]> = {
  scheduled: ['open', 'close'],
  open: ['pause', 'close'],
  paused: ['resume', 'close'],
  sold_out: ['close'],
  closed: ['open'],
};

/** The buttons of operators to open, pause, resume or close the sale of a match. */
export function OpsSale({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const [reason, setReason] = useState('');
  const { busy, problem, run } = useAction();
  const actions = match.cancelled_at ? [] : actionsByStatus[match.sale.status];

  const act = async (action: SaleAction) => {
    const isDone = await run(() =>
      api.opsChangeSale(match.id, { action, reason: (action === 'pause' && reason.trim()) || undefined }),
    );
    if (isDone && action === 'pause') setReason('');
    onChange();
  };

  if (actions.length === 0) return null;
  return (
    <section className="ops-sale" aria-label={texts.ops.sale}>
      <h3>{texts.ops.sale}</h3>
      {problem && <ProblemNotice problem={problem} />}
      {actions.includes('pause') && (
        <Field label={texts.ops.reason} value={reason} onChange={setReason} maxLength={200} testId="ops-reason" />
      )}
      <div className="button-row">
        {actions
          .filter((action) => action !== 'close')
          .map((action) => (
            <Button
              key={action}
              tone={action === 'pause' ? 'warning' : 'primary'}
              disabled={busy}
              onClick={() => void act(action)}
              testId={`ops-${action}`}
            >
              {texts.ops.actions[action]}
            </Button>
          ))}
        {actions.includes('close') && (
          <ConfirmButton texts={texts.ops.close} disabled={busy} onConfirm={() => void act('close')} testId="ops-close" />
        )}
      </div>
    </section>
  );
}
