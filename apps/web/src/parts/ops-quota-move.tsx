import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { type FormEvent, useMemo, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Notice, ProblemNotice } from './notice.tsx';
import { OpsQuotaPlaces } from './ops-quota-places.tsx';
import { emptyPlaces, placesFaults, requestedPlaces, sectorChoices } from './places-input.ts';
import { type Faults, refusedFields } from './quota-input.ts';
import { Select } from './select.tsx';
import { useAction } from './use-action.ts';
import { useFaultFocus } from './use-fault-focus.ts';

interface OpsQuotaMoveProps {
  quota: Quota;
  quotas: readonly Quota[];
  sectors: readonly Sector[];
  onDone: (happened: string) => void;
  onCancel: () => void;
}

/** The form that moves free places of a quota. If a rule refuses the move, it offers to ask a second operator. */
export function OpsQuotaMove({ quota, quotas, sectors, onDone, onCancel }: OpsQuotaMoveProps) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const [to, setTo] = useState('');
  const [places, setPlaces] = useState([emptyPlaces(0)] as Parameters<typeof requestedPlaces>[0]);
  const [reason, setReason] = useState('');
  const [found, setFound] = useState<Faults>({});
  const { busy, problem, setProblem, run } = useAction();
  const { move: moveTexts, faults: faultTexts, places: shownPlaces, public: publicName } = texts.opsQuotas;
  const targets = quotas.filter(({ id, status }) => id !== quota.id && status === 'open');
  const faults = useMemo(
    () => ({ ...refusedFields(problem, places, { texts: faultTexts, format }), ...found }),
    [problem, places, found, faultTexts, format],
  );
  const form = useFaultFocus(faults);

  /** For a change of any field: what was found about the old content does not apply any more. */
  const changing = <Value,>(set: (value: Value) => void) => {
    return (value: Value) => {
      set(value);
      setFound({});
      setProblem(undefined);
    };
  };
  const move = (override: boolean) =>
    run(async () => {
      const body = { to: to || 'public', places: requestedPlaces(places), reason: reason.trim(), override };
      const { quantity, status } = await api.opsMovePlaces(quota.id, body);
      const target = targets.find(({ id }) => id === to)?.name ?? publicName;
      const moved = shownPlaces(quantity, format.number(quantity));
      onDone(status === 'pending' ? moveTexts.asked(moved, target) : moveTexts.done(moved, target));
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const next = { ...placesFaults(places, faultTexts), ...(reason.trim() === '' ? { reason: faultTexts.reasonNeeded } : {}) };
    setFound(next);
    if (Object.keys(next).length === 0) void move(false);
  };

  if (quota.places.free === 0)
    return (
      <div className="quota-form">
        <Notice tone="info">{moveTexts.noFree}</Notice>
        <div className="button-row">
          <Button onClick={onCancel}>{texts.opsQuotas.cancel}</Button>
        </div>
      </div>
    );
  return (
    <form ref={form} className="quota-form" onSubmit={submit} noValidate aria-label={`${moveTexts.label}: ${quota.name}`}>
      <Select
        label={moveTexts.to}
        value={to}
        all={publicName}
        options={targets.map(({ id, name }) => [id, name] as const)}
        onChange={changing(setTo)}
        testId="move-to"
      />
      <OpsQuotaPlaces places={places} choices={sectorChoices(sectors, quota)} faults={faults} onChange={changing(setPlaces)} />
      <Field
        label={moveTexts.reason}
        value={reason}
        onChange={changing(setReason)}
        maxLength={200}
        error={faults.reason}
        testId="move-reason"
      />
      {Object.keys(found).length > 0 && <Notice tone="bad">{faultTexts.check}</Notice>}
      {problem && (
        <ProblemNotice problem={problem}>
          {problem.code === 'MOVE_REFUSED' && (
            <Button tone="warning" disabled={busy} onClick={() => void move(true)} testId="move-ask">
              {moveTexts.ask}
            </Button>
          )}
        </ProblemNotice>
      )}
      <div className="button-row">
        <Button type="submit" tone="primary" aria-disabled={busy} testId="move-send">
          {moveTexts.send}
        </Button>
        <Button onClick={onCancel}>{texts.opsQuotas.cancel}</Button>
      </div>
    </form>
  );
}
