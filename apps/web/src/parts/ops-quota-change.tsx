import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import { type FormEvent, useMemo, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { serverNow } from '../api/server-clock.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsQuotaFields } from './ops-quota-fields.tsx';
import { changeRequest, type Faults, refusedFields, type SettingsInput, settingsFaults, settingsOf } from './quota-input.ts';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

interface OpsQuotaChangeProps {
  match: Match;
  quota: Quota;
  onDone: (happened: string) => void;
  onCancel: () => void;
}

/** The form that changes the settings of a quota. It sends only what the operator has changed. */
export function OpsQuotaChange({ match, quota, onDone, onCancel }: OpsQuotaChangeProps) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  // The page reads the quota again every few seconds. What the operator types stays.
  const [before] = useState(() => settingsOf(quota));
  const [input, setInput] = useState(before);
  const [found, setFound] = useState<Faults>({});
  const [isUnchanged, setIsUnchanged] = useState(false);
  const { busy, problem, setProblem, run } = useAction();
  const { fields, change: changeTexts, faults: faultTexts } = texts.opsQuotas;
  const faults = useMemo(
    () => ({ ...refusedFields(problem, [], { texts: faultTexts, format }), ...found }),
    [problem, found, faultTexts, format],
  );
  const form = useFaultFocus(faults);

  const change = (changed: Partial<SettingsInput>) => {
    setInput((previous) => ({ ...previous, ...changed }));
    setFound({});
    setProblem(undefined);
    setIsUnchanged(false);
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const next = settingsFaults(input, { kickoffAt: match.kickoff_at, now: serverNow(), before, texts: faultTexts });
    setFound(next);
    if (Object.keys(next).length > 0) return;
    const request = changeRequest(before, input);
    setIsUnchanged(request === undefined);
    if (request && (await run(() => api.opsChangeQuota(quota.id, request)))) onDone(changeTexts.saved(input.name.trim()));
  };

  return (
    <form
      ref={form}
      className="quota-form"
      onSubmit={(event) => void save(event)}
      noValidate
      aria-label={`${changeTexts.label}: ${quota.name}`}
    >
      <Field
        label={fields.name}
        value={input.name}
        onChange={(name) => change({ name })}
        maxLength={100}
        error={faults.name}
        testId="quota-name"
      />
      <OpsQuotaFields input={input} faults={faults} hasParent={quota.parent_id !== null} onChange={change} />
      {Object.keys(found).length > 0 && <Notice tone="bad">{faultTexts.check}</Notice>}
      {isUnchanged && <Notice tone="info">{changeTexts.nothing}</Notice>}
      {problem && <ProblemNotice problem={problem} />}
      <div className="button-row">
        <Button type="submit" tone="primary" aria-disabled={busy} testId="quota-save">
          {changeTexts.save}
        </Button>
        <Button onClick={onCancel}>{texts.opsQuotas.cancel}</Button>
      </div>
    </form>
  );
}
