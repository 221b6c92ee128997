import type { RouteBody } from '#contracts/page-routes';
import type { QuotaKind } from '#contracts/quota-kinds';
import type { Quota } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import type { Problem } from '../api/problem.ts';
import { isUuid } from '../routes.ts';
import type { Format } from '../text/format.ts';
import type { StaffTexts } from '../text/staff-language.ts';
import { centsOf, type PlacesInput, requestedPlaces } from './places-input.ts';

/** What the fields for the settings of a quota contain. */
export interface SettingsInput {
  readonly name: string;
  readonly contact: string;
  readonly opensAt: string;
  readonly claimUntil: string;
  readonly returnAt: string;
  readonly onReturn: Quota['on_return'];
  readonly neverTo: readonly QuotaKind[];
  readonly maxPerInvitation: string;
  readonly members: string;
}

/** What the form for a new quota contains. An empty parent is the public. */
export interface NewQuotaInput extends SettingsInput {
  readonly kind: QuotaKind | '';
  readonly parentId: string;
  readonly places: readonly PlacesInput[];
}

/** The text of each faulty field, by its path in the request of the API. */
export type Faults = Readonly<Record<string, string>>;
export type FaultTexts = StaffTexts['opsQuotas']['faults'];

export const emptySettings: SettingsInput = {
  ...{ name: '', contact: '', opensAt: '', claimUntil: '', returnAt: '', onReturn: 'public', neverTo: [] },
  ...{ maxPerInvitation: '4', members: '' },
};

/** The value of a `datetime-local` field for a time, in the time zone of the browser, to the minute. */
export function localTime(iso: string | null): string {
  if (iso === null) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The time that a `datetime-local` field contains. Null if it is empty. */
export const isoTime = (local: string): string | null => (local === '' ? null : new Date(local).toISOString());
const listed = (members: string): string[] =>
  members
    .toLowerCase()
    .split(/[\s,;]+/)
    .filter(Boolean);

export const settingsOf = (quota: Quota): SettingsInput => ({
  name: quota.name,
  contact: quota.contact_email ?? '',
  opensAt: localTime(quota.opens_at),
  claimUntil: localTime(quota.claim_until),
  returnAt: localTime(quota.return_at),
  onReturn: quota.on_return,
  neverTo: quota.never_to,
  maxPerInvitation: String(quota.max_per_invitation),
  members: quota.members.join('\n'),
});

/** The faults of the settings. Deadlines that are as `before` may have passed. */
export function settingsFaults(
  input: SettingsInput,
  { kickoffAt, now, before, texts }: { kickoffAt: string; now: number; before?: SettingsInput; texts: FaultTexts },
): Faults {
  const members = listed(input.members);
  const maximum = Number(input.maxPerInvitation.trim());
  return {
    ...(input.name.trim() === '' ? { name: texts.nameNeeded } : {}),
    ...(input.contact.trim() !== '' && !/^[^\s@]+@[^\s@]+$/.test(input.contact.trim()) ? { contact_email: texts.email } : {}),
    ...(members.every(isUuid) && new Set(members).size === members.length ? {} : { members: texts.members }),
    ...(/^\d+$/.test(input.maxPerInvitation.trim()) && maximum >= 1 && maximum <= 20
      ? {}
      : { max_per_invitation: texts.maximum }),
    ...deadlineFaults(input, { kickoffAt: Date.parse(kickoffAt), now, before, texts }),
  };
}

/** opens_at < claim_until ≤ return_at ≤ kick-off, and a new deadline is not over. */
function deadlineFaults(
  input: SettingsInput,
  { kickoffAt, now, before, texts }: { kickoffAt: number; now: number; before?: SettingsInput; texts: FaultTexts },
): Faults {
  const faults: Record<string, string> = {};
  let earlier: { path: string; at: number } | undefined;
  for (const [path, name] of [
    ['opens_at', 'opensAt'],
    ['claim_until', 'claimUntil'],
    ['return_at', 'returnAt'],
  ] as const) {
    if (input[name] === '') continue;
    const at = Date.parse(input[name]);
    const isNew = input[name] !== before?.[name];
    if (isNew && (path === 'opens_at' ? at >= kickoffAt : at > kickoffAt)) faults[path] = texts.late;
    if (isNew && path !== 'opens_at' && at <= now) faults[path] = texts.past;
    if (earlier && (earlier.path === 'opens_at' ? at <= earlier.at : at < earlier.at)) faults[path] = texts.order;
    earlier = { path, at };
  }
  return faults;
}

const settingsRequest = (input: SettingsInput) => ({
  name: input.name.trim(),
  contact_email: input.contact.trim() || null,
  opens_at: isoTime(input.opensAt),
  claim_until: isoTime(input.claimUntil),
  return_at: isoTime(input.returnAt),
  on_return: input.onReturn,
  never_to: [...input.neverTo],
  max_per_invitation: Number(input.maxPerInvitation),
  members: listed(input.members),
});

/** The request that creates the quota. The form has no faults. */
export function createRequest(
  input: NewQuotaInput,
  sectors: readonly Pick<Sector, 'id'>[],
): RouteBody<'POST /api/v1/ops/matches/:id/quotas'> {
  return {
    ...settingsRequest(input),
    kind: input.kind as QuotaKind,
    parent_id: input.parentId || null,
    places: requestedPlaces(input.places),
    price_cents: prices(input.places, sectors),
  };
}

/** Sector → price. The price of places of any sectors is that of each sector that has no line of its own. */
function prices(places: readonly PlacesInput[], sectors: readonly Pick<Sector, 'id'>[]): Record<string, number> {
  const named = new Map(places.map(({ sectorId, price }) => [sectorId, price]));
  return Object.fromEntries(
    sectors.flatMap(({ id }) => {
      const cents = centsOf(named.get(id) ?? named.get('') ?? '');
      return cents === undefined ? [] : [[id, cents]];
    }),
  );
}

/** What differs between two states of the settings. Undefined if nothing does. */
export function changeRequest(
  before: SettingsInput,
  input: SettingsInput,
): RouteBody<'PATCH /api/v1/ops/quotas/:id'> | undefined {
  const [was, is] = [settingsRequest(before), settingsRequest(input)];
  const changed = Object.entries(is).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name as keyof typeof was]),
  );
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** The fields that the service refuses, by their paths. The sector of which too few places are free is marked in its line. */
export function refusedFields(
  problem: Problem | undefined,
  places: readonly PlacesInput[],
  { texts, format }: { texts: FaultTexts; format: Format },
): Faults {
  if (problem?.code === 'VALIDATION_FAILED')
    return Object.fromEntries((problem.members.errors ?? []).map(({ path }) => [path, texts.refused]));
  const { available, sector_id: sectorId = '' } = problem?.members ?? {};
  if (problem?.code !== 'QUOTA_EXCEEDED' || available === undefined) return {};
  const line = places.findIndex((place) => place.sectorId === sectorId);
  return line < 0 ? {} : { [`places.${line}.quantity`]: texts.onlyFree(available, format.number(available)) };
}
