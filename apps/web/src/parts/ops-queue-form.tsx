import type { OpsMatch } from '#contracts/matches';
import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { useAction } from './use-action.ts';

/** Parses the text of an input field for a limit of the line. Undefined for an empty field, which leaves the limit unchanged. */
function parseLimit(text: string): number | undefined | 'invalid' {
  if (!text.trim()) return undefined;
  return /^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : 'invalid';
}

/** The form of operators for the two limits of a line: turns granted per minute, and windows open at the same time. */
export function OpsQueueForm({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const [rate, setRate] = useState('');
  const [windows, setWindows] = useState('');
  const [isSaved, setIsSaved] = useState(false);
  const { busy, problem, setProblem, run } = useAction();
  const [newRate, newWindows] = [parseLimit(rate), parseLimit(windows)];
  const [checked, setChecked] = useState(false);

  const save = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    setProblem(undefined);
    if (newRate === 'invalid' || newWindows === 'invalid' || (newRate === undefined && newWindows === undefined)) return;
    setIsSaved(false);
    await run(async () => {
      await api.opsChangeQueueLimits(match.id, { processing_rate: newRate, max_open_windows: newWindows });
      setIsSaved(true);
      setRate('');
      setWindows('');
      setChecked(false);
      onChange();
    });
  };

  const error = (value: number | undefined | 'invalid') => (checked && value === 'invalid' ? texts.ops.numberNeeded : undefined);
  const now = (value: number | undefined) => (value === undefined ? texts.ops.unchanged : format.number(value));
  return (
    <form className="ops-queue" onSubmit={(event) => void save(event)} noValidate aria-label={texts.ops.line}>
      <h3>{texts.ops.line}</h3>
      <div className="ops-fields">
        <Field
          label={texts.ops.rate}
          type="number"
          value={rate}
          onChange={setRate}
          placeholder={now(match.processing_rate)}
          error={error(newRate)}
          testId="ops-rate"
        />
        <Field
          label={texts.ops.windows}
          type="number"
          value={windows}
          onChange={setWindows}
          placeholder={now(match.max_open_windows)}
          error={error(newWindows)}
          testId="ops-windows"
        />
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {isSaved && (
        <Notice tone="good" testId="ops-saved">
          {texts.ops.saved}
        </Notice>
      )}
      <Button type="submit" tone="primary" disabled={busy} testId="ops-save">
        {busy ? texts.ops.saving : texts.ops.save}
      </Button>
    </form>
  );
}
