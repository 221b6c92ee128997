import type { Match } from '#contracts/matches';
import type { Quota } from '#contracts/quotas';
import type { QuotaKind } from '#contracts/quota-kinds';
import type { Sector } from '#contracts/sectors';
import { type ReactNode, useEffect, useRef } from 'react';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsQuotaFields } from './ops-quota-fields.tsx';
import { OpsQuotaPlaces } from './ops-quota-places.tsx';
import { OpsQuotaPlan } from './ops-quota-plan.tsx';
import { sectorChoices } from './places-input.ts';
import { Select } from './select.tsx';
import { useFaultFocus } from './use-fault-focus.ts';
import { useNewQuota } from './use-new-quota.ts';

interface OpsQuotaCreateProps {
  match: Match;
  sectors: readonly Sector[];
  parents: readonly Quota[];
  onDone: (happened: string) => void;
  onCancel: () => void;
}

/** The form for a new quota. The operator sees which places it would take before it is created. */
export function OpsQuotaCreate({ match, sectors, parents, onDone, onCancel }: OpsQuotaCreateProps) {
  const { texts } = useStaffLanguage();
  const { input, faults, isFaulty, plan, isBack, busy, problem, ...form } = useNewQuota(match, { sectors, onDone });
  const frame = useFaultFocus(faults);
  const { fields, kinds, create, faults: faultTexts } = texts.opsQuotas;
  const parent = parents.find(({ id }) => id === input.parentId);
  return (
    <form ref={frame} className="quota-form" onSubmit={(event) => void form.preview(event)} noValidate aria-label={create.label}>
      <div className="quota-fields">
        <Field
          label={fields.name}
          value={input.name}
          onChange={(name) => form.change({ name })}
          maxLength={100}
          error={faults.name}
          testId="quota-name"
        />
        <Select
          label={fields.kind}
          value={input.kind}
          all={fields.chooseKind}
          options={Object.entries(kinds) as [QuotaKind, string][]}
          onChange={(kind) => form.change({ kind })}
          error={faults.kind}
          testId="quota-kind"
        />
        <Select
          label={fields.parent}
          value={input.parentId}
          all={texts.opsQuotas.public}
          options={parents.map(({ id, name }) => [id, name] as const)}
          onChange={form.chooseParent}
          error={faults.parent_id}
          testId="quota-parent"
        />
      </div>
      <OpsQuotaPlaces
        places={input.places}
        choices={sectorChoices(sectors, parent)}
        faults={faults}
        currency={match.currency}
        onChange={(places) => form.change({ places })}
      />
      <OpsQuotaFields input={input} faults={faults} hasParent={input.parentId !== ''} onChange={form.change} />
      {isFaulty && <Notice tone="bad">{faultTexts.check}</Notice>}
      {problem && <ProblemNotice problem={problem} />}
      {plan ? (
        <Confirmation title={create.title(input.name.trim())}>
          <OpsQuotaPlan plan={plan} sectors={sectors} />
          <div className="button-row">
            <Button tone="primary" aria-disabled={busy} onClick={() => void form.confirm()} testId="quota-confirm">
              {create.confirm}
            </Button>
            <Button onClick={form.back} testId="quota-back">
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
function Confirmation({ title, children }: { title: string; children: ReactNode }) {
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
