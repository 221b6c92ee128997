import type { OpsMatch } from '#contracts/matches';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { matchTitle } from '../text/match-title.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsRecorded } from './ops-recorded.tsx';
import { useAction } from './use-action.ts';

/** True if the text names the match as the page shows it. A hyphen is a dash here, because keyboards have no dash. */
export function isNameOf(match: { home: string; away: string }, text: string): boolean {
  const plain = (name: string) =>
    name
      .normalize('NFC')
      .replaceAll(/\s*[-–—]\s*/g, '-')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .toLowerCase();
  return plain(text) === plain(matchTitle(match));
}

/**
 * The form to cancel a match that will not be played. A cancellation cannot be undone, so the form is the last one of the card, looks
 * different from the others, and requires a reason and the name of the match.
 */
export function OpsCancel({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts, format } = useStaffLanguage();
  const { calledOff } = texts.ops;
  if (!match.cancelled_at) return <CancelForm match={match} onChange={onChange} />;
  return (
    <section className="ops-cancel" aria-label={calledOff.title}>
      <Notice tone="warning" testId="ops-cancelled">
        <p>{calledOff.done(format.dateTime(match.cancelled_at), match.cancel_reason ?? '')}</p>
        <p className="fine-print">{calledOff.refunding}</p>
        <OpsRecorded action="cancelMatch" />
      </Notice>
    </section>
  );
}

function CancelForm({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts } = useStaffLanguage();
  const { api } = useAppServices();
  const [reason, setReason] = useState('');
  const [name, setName] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  const { busy, problem, run } = useAction();
  const { calledOff } = texts.ops;
  const [hasReason, isNamed] = [reason.trim() !== '', isNameOf(match, name)];

  const cancel = async (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (!hasReason || !isNamed) return;
    await run(() => api.opsCancelMatch(match.id, reason.trim()));
    onChange();
  };

  return (
    <section className="ops-cancel final-act" aria-label={calledOff.title}>
      <h3>{calledOff.title}</h3>
      <p>{calledOff.warning}</p>
      {problem && <ProblemNotice problem={problem} />}
      <form onSubmit={(event) => void cancel(event)} noValidate>
        <Field
          label={calledOff.reason}
          value={reason}
          onChange={setReason}
          maxLength={200}
          error={isChecked && !hasReason ? calledOff.reasonNeeded : undefined}
          testId="ops-cancel-reason"
        />
        <Field
          label={calledOff.name}
          hint={matchTitle(match)}
          value={name}
          onChange={setName}
          maxLength={250}
          error={isChecked && !isNamed ? calledOff.nameNeeded : undefined}
          testId="ops-cancel-name"
        />
        <Button type="submit" tone="danger" disabled={busy} testId="ops-cancel">
          {calledOff.yes}
        </Button>
      </form>
    </section>
  );
}
