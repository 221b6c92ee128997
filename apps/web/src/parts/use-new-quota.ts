import type { Match } from '#contracts/matches';
import type { PlannedPlaces } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { type FormEvent, useMemo, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { serverNow } from '../api/server-clock.ts';
import { useStaffLanguage } from '../text/staff-language.ts';
import { emptyPlaces, placesFaults } from './places-input.ts';
import { createRequest, emptySettings, type Faults, type NewQuotaInput, refusedFields, settingsFaults } from './quota-input.ts';
import { useAction } from './use-action.ts';

const emptyInput: NewQuotaInput = { ...emptySettings, kind: '', parentId: '', places: [emptyPlaces(0)] };

/** The state of the form for a new quota: its fields and their faults, the preview, and the creation. */
export function useNewQuota(
  match: Match,
  { sectors, onDone }: { sectors: readonly Sector[]; onDone: (happened: string) => void },
) {
  const { texts, format } = useStaffLanguage();
  const { api } = useAppServices();
  const [input, setInput] = useState(emptyInput);
  const [found, setFound] = useState<Faults>({});
  const [plan, setPlan] = useState<PlannedPlaces>();
  const [isBack, setIsBack] = useState(false);
  const { busy, problem, setProblem, run } = useAction();
  const { create, faults: faultTexts } = texts.opsQuotas;
  const faults = useMemo(
    () => ({ ...refusedFields(problem, input.places, { texts: faultTexts, format }), ...found }),
    [problem, input.places, found, faultTexts, format],
  );

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

  const isFaulty = Object.keys(found).length > 0;
  return { input, faults, isFaulty, plan, isBack, busy, problem, change, chooseParent, preview, back, confirm };
}
