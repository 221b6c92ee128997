import type { OpsMatch } from '#contracts/matches';
import { useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';

/**
 * The form to cancel a match that will not be played. A cancellation cannot be undone, so the form is the last one of the card
 * and requires a reason.
 */
export function OpsCancel({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  const cancel = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await api.opsCancelMatch(match.id, reason.trim());
    } catch (caught) {
      setProblem(toProblem(caught));
    } finally {
      setBusy(false);
      onChange();
    }
  };

  if (match.cancelled_at) {
    return (
      <section className="ops-cancel" aria-label={texts.ops.calledOff.title}>
        <Notice tone="warning" testId="ops-cancelled">
          <p>{texts.ops.calledOff.done(format.dateTime(match.cancelled_at), match.cancel_reason ?? '')}</p>
          <p className="fine-print">{texts.ops.calledOff.refunding}</p>
        </Notice>
      </section>
    );
  }
  return (
    <section className="ops-cancel" aria-label={texts.ops.calledOff.title}>
      <h3>{texts.ops.calledOff.title}</h3>
      {problem && <ProblemNotice problem={problem} />}
      <Field
        label={texts.ops.calledOff.reason}
        value={reason}
        onChange={setReason}
        autoComplete="off"
        maxLength={200}
        testId="ops-cancel-reason"
      />
      <ConfirmButton
        label={texts.ops.calledOff.title}
        question={texts.ops.calledOff.sure}
        yes={texts.ops.calledOff.yes}
        no={texts.ops.cancel}
        disabled={busy || reason.trim() === ''}
        onConfirm={() => void cancel()}
        testId="ops-cancel"
      />
    </section>
  );
}
