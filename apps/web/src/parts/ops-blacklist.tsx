import { type FormEvent, useState } from 'react';
import { asProblem, type Problem } from '../api/problem.ts';
import { useTribina } from '../api/tribina-context.ts';
import { useLanguage } from '../text/language.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { useLoaded } from './use-loaded.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Who may not buy; of a long list the newest hundred. */
export function OpsBlacklist() {
  const { texts, format } = useLanguage();
  const { tribina } = useTribina();
  const { value, problem: unread, reload } = useLoaded((signal) => tribina.opsBlacklist(signal), 'blacklist');
  const [fan, setFan] = useState('');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const [busy, setBusy] = useState(false);
  const [checked, setChecked] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [isFan, hasReason] = [uuid.test(fan.trim()), reason.trim() !== ''];

  const change = async (act: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
      return true;
    } catch (caught) {
      setProblem(asProblem(caught));
      return false;
    } finally {
      setBusy(false);
      reload();
    }
  };

  const add = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (!isFan || !hasReason) return;
    const entry = { user_id: fan.trim(), reason: reason.trim(), ...(until ? { until: new Date(until).toISOString() } : {}) };
    if (!(await change(() => tribina.opsList(entry)))) return;
    for (const clear of [setFan, setReason, setUntil]) clear('');
    setChecked(false);
  };

  const words = texts.ops.blacklist;
  return (
    <section className="card ops-blacklist" aria-label={words.title} data-testid="ops-blacklist">
      <h2>{words.title}</h2>
      <p className="fine-print">{words.intro}</p>
      {(problem ?? unread) && <ProblemNotice problem={(problem ?? unread)!} />}
      <ul className="ops-found">
        {value?.items.map((entry) => (
          <li key={entry.user_id} className="ops-order" data-testid="ops-listed">
            <p>
              <code>{entry.user_id}</code> · {entry.reason} ·{' '}
              {entry.until ? words.until(format.dateTime(entry.until)) : words.forGood}
            </p>
            <ConfirmButton
              label={words.lift}
              question={words.liftSure}
              yes={words.liftYes}
              no={texts.ops.cancel}
              disabled={busy}
              onConfirm={() => void change(() => tribina.opsLift(entry.user_id))}
              testId="ops-lift"
            />
          </li>
        ))}
      </ul>
      <form className="ops-fields" onSubmit={(event) => void add(event)} noValidate>
        <Field
          label={words.fan}
          value={fan}
          onChange={setFan}
          autoComplete="off"
          maxLength={36}
          fault={checked && !isFan ? words.fanNeeded : undefined}
          testId="ops-list-fan"
        />
        <Field
          label={words.reason}
          value={reason}
          onChange={setReason}
          autoComplete="off"
          maxLength={200}
          fault={checked && !hasReason ? words.reasonNeeded : undefined}
          testId="ops-list-reason"
        />
        <Field label={words.untilLabel} type="datetime-local" value={until} onChange={setUntil} testId="ops-list-until" />
        <button type="submit" className="button button-warning" disabled={busy} data-testid="ops-list">
          {words.add}
        </button>
      </form>
    </section>
  );
}
