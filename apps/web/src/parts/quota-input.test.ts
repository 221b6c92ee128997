import type { Quota } from '#contracts/quotas';
import { Problem } from '../api/problem.ts';
import { formatFor } from '../text/format.ts';
import { staffLanguages } from '../text/staff-language.ts';
import { centsOf, emptyPlaces, placesFaults, requestedPlaces, sectorChoices } from './places-input.ts';
import {
  changeRequest,
  createRequest,
  emptySettings,
  localTime,
  type NewQuotaInput,
  refusedFields,
  settingsFaults,
  settingsOf,
} from './quota-input.ts';
import { possibleParents, quotaTree } from './quota-tree.ts';

const texts = staffLanguages.en.opsQuotas.faults;
const now = Date.parse('2026-11-20T12:00:00Z');
const kickoffAt = '2026-12-20T20:00:00.000Z';
const at = (iso: string) => localTime(iso);
const settings = { ...emptySettings, name: 'Torcida' };
const [east, west] = ['0190a000-0000-7000-8000-000000000001', '0190a000-0000-7000-8000-000000000002'];

test.each<[string, Partial<typeof settings>, Record<string, string>]>([
  ['all fields but the name may be empty', {}, {}],
  ['a blank name', { name: ' ' }, { name: texts.nameNeeded }],
  ['a contact that is no address', { contact: 'ana example.hr' }, { contact_email: texts.email }],
  ['no places per invitation', { maxPerInvitation: '' }, { max_per_invitation: texts.maximum }],
  ['21 places per invitation', { maxPerInvitation: '21' }, { max_per_invitation: texts.maximum }],
  ['a member that is no UUID', { members: 'ana' }, { members: texts.members }],
  ['a member twice', { members: `${east}\n${east.toUpperCase()}` }, { members: texts.members }],
  ['two members', { members: `${east}, ${west}\n` }, {}],
  ['a return in the past', { returnAt: at('2026-11-19T12:00:00Z') }, { return_at: texts.past }],
  ['a beginning in the past', { opensAt: at('2026-11-19T12:00:00Z') }, {}],
  ['a return at kick-off', { returnAt: at(kickoffAt) }, {}],
  ['a return after kick-off', { returnAt: at('2026-12-20T20:01:00Z') }, { return_at: texts.late }],
  [
    'an end that is the beginning',
    { opensAt: at('2026-12-01T10:00:00Z'), claimUntil: at('2026-12-01T10:00:00Z') },
    { claim_until: texts.order },
  ],
  ['a return at the end', { claimUntil: at('2026-12-01T10:00:00Z'), returnAt: at('2026-12-01T10:00:00Z') }, {}],
  [
    'a return before the end',
    { claimUntil: at('2026-12-01T10:00:00Z'), returnAt: at('2026-12-01T09:59:00Z') },
    { return_at: texts.order },
  ],
])('the settings of a quota: %s', (_case, changed, faults) => {
  expect(settingsFaults({ ...settings, ...changed }, { kickoffAt, now, texts })).toEqual(faults);
});

test('a deadline that has passed is no fault while it is not changed', () => {
  const before = { ...settings, returnAt: at('2026-11-19T12:00:00Z') };
  expect(settingsFaults({ ...before, name: 'Torcida Split' }, { kickoffAt, now, before, texts })).toEqual({});
});

test('the lines for places: a quantity, a price and each sector once', () => {
  const line = (key: number, fields: object) => ({ ...emptyPlaces(key), ...fields });
  const places = [
    line(0, { quantity: '0' }),
    line(1, { sectorId: east, quantity: '5', price: '12,50' }),
    line(2, { sectorId: east, quantity: '1.5', price: 'free' }),
    line(3, { sectorId: west, quantity: '120001', price: '12.505' }),
  ];
  expect(placesFaults(places, texts)).toEqual({
    'places.0.quantity': texts.quantity,
    'places.2.quantity': texts.quantity,
    'places.2.price': texts.price,
    'places.2.sector': texts.twice,
    'places.3.quantity': texts.quantity,
    'places.3.price': texts.price,
  });
  expect(requestedPlaces(places.slice(0, 2))).toEqual([{ quantity: 0 }, { sector_id: east, quantity: 5 }]);
});

test.each([
  ['', undefined],
  ['0', 0],
  ['35', 3500],
  ['12,5', 1250],
  [' 19.99 ', 1999],
])('the amount %j is %j cents', (typed, cents) => {
  expect(centsOf(typed)).toBe(cents);
});

test('a request has a price for each sector with a priced line; that of any sectors is for all that have no line', () => {
  const input: NewQuotaInput = {
    ...{ ...settings, name: ' Torcida ', kind: 'club', parentId: '', returnAt: at('2026-12-01T10:00:00Z') },
    places: [
      { ...emptyPlaces(0), quantity: '10', price: '0' },
      { ...emptyPlaces(1), sectorId: east, quantity: '5' },
    ],
  };
  expect(createRequest(input, [{ id: east }, { id: west }])).toEqual({
    ...{ name: 'Torcida', kind: 'club', parent_id: null, contact_email: null, members: [], never_to: [], max_per_invitation: 4 },
    ...{ opens_at: null, claim_until: null, return_at: '2026-12-01T10:00:00.000Z', on_return: 'public' },
    places: [{ quantity: 10 }, { sector_id: east, quantity: 5 }],
    price_cents: { [west]: 0 },
  });
});

const quota = (id: string, parent_id: string | null, fields: Partial<Quota> = {}): Quota => ({
  ...{ id, match_id: east, parent_id, name: id, kind: 'club', members: [], contact_email: null, opens_at: null },
  ...{ claim_until: null, return_at: '2026-12-01T10:00:30.000Z', on_return: 'public', never_to: [], price_cents: {} },
  ...{ max_per_invitation: 4, status: 'open', returned_at: null, created_at: '2026-11-20T12:00:00.000Z', by_sector: [] },
  places: { total: 0, free: 0, invited: 0, held: 0, sold: 0 },
  subtree: { total: 0, free: 0, invited: 0, held: 0, sold: 0 },
  ...fields,
});

test('a change sends only what differs; a deadline with seconds that nobody touched is not sent', () => {
  const before = settingsOf(quota('a', null));
  expect(changeRequest(before, before)).toBeUndefined();
  expect(changeRequest(before, { ...before, name: 'b ' })).toEqual({ name: 'b' });
  expect(changeRequest(before, { ...before, returnAt: '', contact: 'b@example.hr' })).toEqual({
    ...{ return_at: null, contact_email: 'b@example.hr' },
  });
});

const format = formatFor('en-GB');
const lines = [emptyPlaces(0), { ...emptyPlaces(1), sectorId: east }];
test.each<[string, Problem | undefined, Record<string, string>]>([
  ['no problem', undefined, {}],
  [
    'QUOTA_EXCEEDED in a sector marks its line',
    new Problem('QUOTA_EXCEEDED', 409, { available: 1, sector_id: east }),
    { 'places.1.quantity': 'Only 1 place is free.' },
  ],
  [
    'QUOTA_EXCEEDED in any sectors marks their line',
    new Problem('QUOTA_EXCEEDED', 409, { available: 1200 }),
    { 'places.0.quantity': 'Only 1,200 places are free.' },
  ],
  ['QUOTA_EXCEEDED in a sector without a line', new Problem('QUOTA_EXCEEDED', 409, { available: 1, sector_id: west }), {}],
  [
    'VALIDATION_FAILED marks its fields',
    new Problem('VALIDATION_FAILED', 400, { errors: [{ path: 'claim_until', message: 'must be in the future' }] }),
    { claim_until: texts.refused },
  ],
  ['MOVE_REFUSED marks no field', new Problem('MOVE_REFUSED', 409, { rule: 'never_to' }), {}],
])('refused fields: %s', (_case, problem, faults) => {
  expect(refusedFields(problem, lines, { texts, format })).toEqual(faults);
});

test('the tree: parts below their parents, to the fourth level; an unknown parent is the top', () => {
  const flat = [
    quota('a', null),
    quota('b', 'a'),
    quota('c', 'b'),
    quota('d', 'c'),
    quota('e', 'unknown', { status: 'returned' }),
  ];
  const tree = quotaTree(flat);
  expect(tree.map((node) => [node.quota.id, node.depth, node.parts.length])).toEqual([
    ['a', 1, 1],
    ['e', 1, 0],
  ]);
  expect(tree[0]?.parts[0]?.parts[0]?.parts[0]).toMatchObject({ quota: { id: 'd' }, depth: 4, parts: [] });
  expect(possibleParents(tree).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

test('the sectors to choose from: those with free places of the public, or of the quota', () => {
  const facts = { kind: 'standing' as const, wheelchair: false, price_cents: 2000, currency: 'EUR', capacity: 10 };
  const sectors = [
    { ...facts, id: east, name: 'East', available: 7 },
    { ...facts, id: west, name: 'West', available: 0 },
  ];
  const owner = quota('a', null, { by_sector: [{ sector_id: west, total: 5, free: 3 }] });
  expect(sectorChoices(sectors, undefined)).toEqual([{ id: east, name: 'East', free: 7 }]);
  expect(sectorChoices(sectors, owner)).toEqual([{ id: west, name: 'West', free: 3 }]);
});
