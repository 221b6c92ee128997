import { type FormEvent, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { isUuid } from '../routes.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button, ConfirmButton } from './button.tsx';
import { Field } from './field.tsx';
import { ProblemNotice } from './notice.tsx';
import { RoleNeeded, useMay } from './role-needed.tsx';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** The list of fans who may not buy, with its newest 100 entries, and a form to add and remove fans. */
export function OpsBlacklist() {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const { value, problem: loadProblem, reload } = useLoaded((signal) => api.opsBlacklist(signal), 'blacklist');
  const mayChange = useMay('ops:lists');
  const [fanId, setFanId] = useState('');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const [isChecked, setIsChecked] = useState(false);
  const { busy, problem, run } = useAction();
  const [isFanIdValid, hasReason] = [isUuid(fanId.trim()), reason.trim() !== ''];
  const blacklistTexts = texts.ops.blacklist;
  const shownProblem = problem ?? loadProblem;

  const change = async (action: () => Promise<unknown>) => {
    const isDone = await run(action);
    reload();
    return isDone;
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

  return (
    <section className="card ops-blacklist" aria-label={blacklistTexts.title} data-testid="ops-blacklist">
      <h2>{blacklistTexts.title}</h2>
      <p className="fine-print">{blacklistTexts.intro}</p>
      {shownProblem && <ProblemNotice problem={shownProblem} />}
      <ul className="ops-found">
        {value?.items.map((entry) => (
          <li key={entry.user_id} className="ops-order" data-testid="ops-listed">
            <p>
              <code>{entry.user_id}</code> · {entry.reason} ·{' '}
              {entry.until ? blacklistTexts.until(format.dateTime(entry.until)) : blacklistTexts.forGood}
            </p>
            {mayChange && (
              <ConfirmButton
                texts={blacklistTexts.lift}
                disabled={busy}
                onConfirm={() => void change(() => api.opsRemoveFromBlacklist(entry.user_id))}
                testId="ops-lift"
              />
            )}
          </li>
        ))}
      </ul>
      <RoleNeeded access="ops:lists" work="lists" />
      {mayChange && (
        <form className="ops-fields" onSubmit={(event) => void add(event)} noValidate>
          <Field
            label={blacklistTexts.fan}
            value={fanId}
            onChange={setFanId}
            maxLength={36}
            error={isChecked && !isFanIdValid ? blacklistTexts.fanNeeded : undefined}
            testId="ops-list-fan"
          />
          <Field
            label={blacklistTexts.reason}
            value={reason}
            onChange={setReason}
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
          <Button type="submit" tone="warning" disabled={busy} testId="ops-list">
            {blacklistTexts.add}
          </Button>
        </form>
      )}
    </section>
  );
}
