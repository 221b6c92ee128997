import { type FormEvent, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';
import { useTribina } from '../api/tribina-context.ts';
import type { OpsMatch } from '../api/types.ts';
import { useLanguage } from '../text/language.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';

/** What is left empty stays as it is. */
function read(text: string): number | undefined | 'wrong' {
  if (!text.trim()) return undefined;
  return /^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : 'wrong';
}

export function OpsQueueForm({ match, onChange }: { match: OpsMatch; onChange: () => void }) {
  const { texts, format } = useLanguage();
  const { tribina } = useTribina();
  const [rate, setRate] = useState('');
  const [windows, setWindows] = useState('');
  const [phase, setPhase] = useState<'idle' | 'saving' | 'saved'>('idle');
  const [problem, setProblem] = useState<Problem>();
  const [newRate, newWindows] = [read(rate), read(windows)];
  const [checked, setChecked] = useState(false);

  const save = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    setProblem(undefined);
    if (newRate === 'wrong' || newWindows === 'wrong' || (newRate === undefined && newWindows === undefined)) return;
    setPhase('saving');
    try {
      await tribina.opsQueue(match.id, { processing_rate: newRate, max_open_windows: newWindows });
      setPhase('saved');
      setRate('');
      setWindows('');
      setChecked(false);
      onChange();
    } catch (caught) {
      setPhase('idle');
      setProblem(asProblem(caught));
    }
  };

  const fault = (value: number | undefined | 'wrong') => (checked && value === 'wrong' ? texts.ops.numberNeeded : undefined);
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
          fault={fault(newRate)}
          autoComplete="off"
          testId="ops-rate"
        />
        <Field
          label={texts.ops.windows}
          type="number"
          value={windows}
          onChange={setWindows}
          placeholder={now(match.max_open_windows)}
          fault={fault(newWindows)}
          autoComplete="off"
          testId="ops-windows"
        />
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {phase === 'saved' && (
        <Notice tone="good" testId="ops-saved">
          {texts.ops.saved}
        </Notice>
      )}
      <button type="submit" className="button button-primary" disabled={phase === 'saving'} data-testid="ops-save">
        {phase === 'saving' ? texts.ops.saving : texts.ops.save}
      </button>
    </form>
  );
}
