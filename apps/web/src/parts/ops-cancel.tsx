import type { OpsMatch } from '#contracts/matches';
import { useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { ConfirmButton } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/**
 * The form to cancel a match that will not be played. A cancellation cannot be undone, so the form is the last one of the card
 * and requires a reason.
 */
export function OpsCancel({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const [reason, setReason] = useState('');
  const { busy, problem, run } = useAction();

  const cancel = async () => {
    await run(() => api.opsCancelMatch(match.id, reason.trim()));
    onChange();
  };

  if (match.cancelled_at) {
    return (
      <section className="ops-cancel" aria-label={texts.ops.calledOff.confirm.label}>
        <Notice tone="warning" testId="ops-cancelled">
          <p>{texts.ops.calledOff.done(format.dateTime(match.cancelled_at), match.cancel_reason ?? '')}</p>
          <p className="fine-print">{texts.ops.calledOff.refunding}</p>
        </Notice>
      </section>
    );
  }
  return (
    <section className="ops-cancel" aria-label={texts.ops.calledOff.confirm.label}>
      <h3>{texts.ops.calledOff.confirm.label}</h3>
      {problem && <ProblemNotice problem={problem} />}
      <Field label={texts.ops.calledOff.reason} value={reason} onChange={setReason} maxLength={200} testId="ops-cancel-reason" />
      <ConfirmButton
        texts={texts.ops.calledOff.confirm}
        disabled={busy || reason.trim() === ''}
        onConfirm={() => void cancel()}
        testId="ops-cancel"
      />
    </section>
  );
}
