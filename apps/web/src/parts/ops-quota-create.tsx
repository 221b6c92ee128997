import type { Match } from '#contracts/matches';
import type { PlannedPlaces, Quota } from '#contracts/quotas';
import type { QuotaKind } from '#contracts/quota-kinds';
import type { Sector } from '#contracts/sectors';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { serverNow } from '../api/server-clock.ts';
import { useLanguage } from '../text/language.tsx';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsQuotaFields } from './ops-quota-fields.tsx';
import { OpsQuotaPlaces } from './ops-quota-places.tsx';
import { OpsQuotaPlan } from './ops-quota-plan.tsx';
import { emptyPlaces, placesFaults, sectorChoices } from './places-input.ts';
import { createRequest, emptySettings, type Faults, type NewQuotaInput, refusedFields, settingsFaults } from './quota-input.ts';
import { Select } from './select.tsx';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

interface OpsQuotaCreateProps {
  match: Match;
  sectors: readonly Sector[];
  parents: readonly Quota[];
  onDone: (happened: string) => void;
  onCancel: () => void;
}

const emptyInput: NewQuotaInput = { ...emptySettings, kind: '', parentId: '', places: [emptyPlaces(0)] };

/** The form for a new quota. The operator sees which places it would take before it is created. */
export function OpsQuotaCreate({ match, sectors, parents, onDone, onCancel }: OpsQuotaCreateProps) {
  const { texts, format } = useLanguage();
  const { api } = useAppServices();
  const [input, setInput] = useState(emptyInput);
  const [found, setFound] = useState<Faults>({});
  const [plan, setPlan] = useState<PlannedPlaces>();
  const [isBack, setIsBack] = useState(false);
  const { busy, problem, setProblem, run } = useAction();
  const { fields, kinds, create, faults: faultTexts } = texts.opsQuotas;
  const parent = parents.find(({ id }) => id === input.parentId);
  const faults = { ...refusedFields(problem, input.places, { texts: faultTexts, format }), ...found };
  const form = useFaultFocus(faults);

  const change = (changed: Partial<NewQuotaInput>) => {
    setInput((previous) => ({ ...previous, ...changed }));
    setFound({});
    setProblem(undefined);
    setPlan(undefined);
  };
  const chooseParent = (parentId: string) => {
    const places = input.places.map((line) => ({ ...line, sectorId: '' }));
    change({ parentId, places, ...(parentId === '' && input.onReturn === 'parent' ? { onReturn: 'public' } : {}) });
  };

  const preview = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const next = {
      ...settingsFaults(input, { kickoffAt: match.kickoff_at, now: serverNow(), texts: faultTexts }),
      ...(input.kind === '' ? { kind: faultTexts.kindNeeded } : {}),
      ...placesFaults(input.places, faultTexts),
    };
    setFound(next);
    setProblem(undefined);
    if (Object.keys(next).length > 0) return;
    await run(async () => setPlan(await api.opsPlanQuota(match.id, createRequest(input, sectors))));
  };
  const back = () => {
    setPlan(undefined);
    setIsBack(true);
  };
  const confirm = async () => {
    if (busy) return;
    const name = input.name.trim();
    if (await run(() => api.opsCreateQuota(match.id, createRequest(input, sectors)))) onDone(create.created(name));
    else back();
  };

  return (
    <form ref={form} className="quota-form" onSubmit={(event) => void preview(event)} noValidate aria-label={create.label}>
      <div className="quota-fields">
        <Field
          label={fields.name}
          value={input.name}
          onChange={(name) => change({ name })}
          maxLength={100}
          error={faults.name}
          testId="quota-name"
        />
        <Select
          label={fields.kind}
          value={input.kind}
          all={fields.chooseKind}
          options={Object.entries(kinds) as [QuotaKind, string][]}
          onChange={(kind) => change({ kind })}
          error={faults.kind}
          testId="quota-kind"
        />
        <Select
          label={fields.parent}
          value={input.parentId}
          all={texts.opsQuotas.public}
          options={parents.map(({ id, name }) => [id, name] as const)}
          onChange={chooseParent}
          error={faults.parent_id}
          testId="quota-parent"
        />
      </div>
      <OpsQuotaPlaces
        places={input.places}
        choices={sectorChoices(sectors, parent)}
        faults={faults}
        currency={match.currency}
        onChange={(places) => change({ places })}
      />
      <OpsQuotaFields input={input} faults={faults} hasParent={input.parentId !== ''} onChange={change} />
      {Object.keys(found).length > 0 && <Notice tone="bad">{faultTexts.check}</Notice>}
      {problem && <ProblemNotice problem={problem} />}
      {plan ? (
        <Confirmation title={create.title(input.name.trim())}>
          <OpsQuotaPlan plan={plan} sectors={sectors} />
          <div className="button-row">
            <Button tone="primary" aria-disabled={busy} onClick={() => void confirm()} testId="quota-confirm">
              {create.confirm}
            </Button>
            <Button onClick={back} testId="quota-back">
              {create.change}
            </Button>
          </div>
        </Confirmation>
      ) : (
        <div className="button-row">
          <Button type="submit" tone="primary" aria-disabled={busy} autoFocus={isBack} testId="quota-preview">
            {create.preview}
          </Button>
          <Button onClick={onCancel}>{texts.opsQuotas.cancel}</Button>
        </div>
      )}
    </form>
  );
}

/** The preview. Its heading gets the focus, so that screen readers read it and the keyboard continues there. */
function Confirmation({ title, children }: { title: string; children: React.ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <div className="confirm" role="group" aria-labelledby="quota-plan-title">
      <h3 id="quota-plan-title" ref={heading} tabIndex={-1}>
        {title}
      </h3>
      {children}
    </div>
  );
}
