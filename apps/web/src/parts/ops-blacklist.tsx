import { type FormEvent, useState } from 'react';
import { toProblem, type Problem } from '../api/problem.ts';
import { useAppServices } from '../api/app-services.ts';
import { useLanguage } from '../text/language.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The list of fans who may not buy, with its newest 100 entries, and a form to add and remove fans. */
export function OpsBlacklist() {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const { value, problem: loadProblem, reload } = useLoaded((signal) => api.opsBlacklist(signal), 'blacklist');
  const [fanId, setFanId] = useState('');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const [busy, setBusy] = useState(false);
  const [isChecked, setIsChecked] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [isFanIdValid, hasReason] = [uuid.test(fanId.trim()), reason.trim() !== ''];

  const change = async (action: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await action();
      return true;
    } catch (caught) {
      setProblem(toProblem(caught));
      return false;
    } finally {
      setBusy(false);
      reload();
    }
  };

  const add = async (event: FormEvent) => {
    event.preventDefault();
    setIsChecked(true);
    if (!isFanIdValid || !hasReason) return;
    const entry = { user_id: fanId.trim(), reason: reason.trim(), ...(until ? { until: new Date(until).toISOString() } : {}) };
    if (!(await change(() => api.opsAddToBlacklist(entry)))) return;
    for (const clear of [setFanId, setReason, setUntil]) clear('');
    setIsChecked(false);
  };

  const blacklistTexts = texts.ops.blacklist;
  return (
    <section className="card ops-blacklist" aria-label={blacklistTexts.title} data-testid="ops-blacklist">
      <h2>{blacklistTexts.title}</h2>
      <p className="fine-print">{blacklistTexts.intro}</p>
      {(problem ?? loadProblem) && <ProblemNotice problem={(problem ?? loadProblem)!} />}
      <ul className="ops-found">
        {value?.items.map((entry) => (
          <li key={entry.user_id} className="ops-order" data-testid="ops-listed">
            <p>
              <code>{entry.user_id}</code> · {entry.reason} ·{' '}
              {entry.until ? blacklistTexts.until(format.dateTime(entry.until)) : blacklistTexts.forGood}
            </p>
            <ConfirmButton
              label={blacklistTexts.lift}
              question={blacklistTexts.liftSure}
              yes={blacklistTexts.liftYes}
              no={texts.ops.cancel}
              disabled={busy}
              onConfirm={() => void change(() => api.opsRemoveFromBlacklist(entry.user_id))}
              testId="ops-lift"
            />
          </li>
        ))}
      </ul>
      <form className="ops-fields" onSubmit={(event) => void add(event)} noValidate>
        <Field
          label={blacklistTexts.fan}
          value={fanId}
          onChange={setFanId}
          autoComplete="off"
          maxLength={36}
          error={isChecked && !isFanIdValid ? blacklistTexts.fanNeeded : undefined}
          testId="ops-list-fan"
        />
        <Field
          label={blacklistTexts.reason}
          value={reason}
          onChange={setReason}
          autoComplete="off"
          maxLength={200}
          error={isChecked && !hasReason ? blacklistTexts.reasonNeeded : undefined}
          testId="ops-list-reason"
        />
        <Field
          label={blacklistTexts.untilLabel}
          type="datetime-local"
          value={until}
          onChange={setUntil}
          testId="ops-list-until"
        />
        <button type="submit" className="button button-warning" disabled={busy} data-testid="ops-list">
          {blacklistTexts.add}
        </button>
      </form>
    </section>
  );
}
