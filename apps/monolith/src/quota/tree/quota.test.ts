import {
  cutAtKickoff,
  deadlineFaults,
  ruleAgainst,
  ruleAgainstChild,
  ruleAgainstReturnToParent,
  type QuotaChain,
} from './quota.ts';

const hour = (hours: number): Date => new Date(Date.UTC(2027, 0, 1) + hours * 3_600_000);
const [now, kickoffAt] = [hour(0), hour(100)];

test.each<[what: string, opens: number | null, claim: number | null, back: number | null, faulty: string[]]>([
  ['none', null, null, null, []],
  ['all in order', 1, 2, 3, []],
  ['claims end with the return, at kick-off', 1, 100, 100, []],
  ['it has opened before', -5, 2, 3, []],
  ['claims end when they begin', 2, 2, 3, ['claim_until']],
  ['claims end before they begin', 3, 2, 4, ['claim_until']],
  ['the return is before the end of claims', 1, 3, 2, ['return_at']],
  ['the return is before the opening', 3, null, 2, ['return_at']],
  ['the return is at the opening', 2, null, 2, ['return_at']],
  ['the return is after kick-off', null, null, 101, ['return_at']],
  ['claims end after kick-off', null, 101, null, ['claim_until']],
  ['it opens at kick-off', 100, null, null, ['opens_at']],
  ['the return has passed', null, null, 0, ['return_at']],
  ['the end of claims has passed', null, -1, 5, ['claim_until']],
])('deadlines: %s', (_what, opens, claim, back, faulty) => {
  const at = (hours: number | null): Date | null => (hours === null ? null : hour(hours));
  const faults = deadlineFaults({ opensAt: at(opens), claimUntil: at(claim), returnAt: at(back) }, { kickoffAt, now });
  expect(faults.map(({ path }) => path)).toEqual(faulty);
});

test('deadlines: one that has passed and is not changed is no fault', () => {
  const before = { opensAt: null, claimUntil: hour(-2), returnAt: hour(9) };
  expect(deadlineFaults({ ...before, returnAt: hour(8) }, { kickoffAt, now, before })).toEqual([]);
  expect(deadlineFaults({ ...before, claimUntil: hour(-1) }, { kickoffAt, now, before })).toHaveLength(1);
});

test.each<[what: string, before: (number | null)[], after: (number | null)[]]>([
  ['none', [null, null, null], [null, null, null]],
  ['all are before it', [1, 98, 99], [1, 98, 99]],
  ['some are after it', [1, 100, 120], [1, 100, 100]],
  ['all are after it', [110, 120, 130], [100 - 1 / 3600, 100, 100]],
  ['it opens at kick-off and has no other', [100, null, null], [100 - 1 / 3600, null, null]],
])('deadlines that are cut at kick-off: %s', (_what, before, after) => {
  const at = (hours: (number | null)[]) => {
    const [opensAt, claimUntil, returnAt] = hours.map((time) => (time === null ? null : hour(time)));
    return { opensAt: opensAt!, claimUntil: claimUntil!, returnAt: returnAt! };
  };
  const cut = cutAtKickoff(at(before), kickoffAt);
  expect(cut).toEqual(at(after));
  expect(deadlineFaults(cut, { kickoffAt, now })).toEqual([]);
});

const quota = (kind: QuotaChain[number]['kind'], neverTo: QuotaChain[number]['neverTo'] = []): QuotaChain[number] => ({
  id: kind,
  name: `The ${kind}`,
  kind,
  neverTo,
});

test('never_to of the quota or of an ancestor forbids a move, and the rule names the quota that forbids it', () => {
  const chain = [quota('fan_group'), quota('visitors', ['visitors', 'sponsor'])];
  expect(ruleAgainst(chain, 'sponsor')).toBe('never_to: places of "The visitors" never go to sponsor');
  expect(ruleAgainst(chain, 'visitors')).toBeDefined();
  expect(ruleAgainst(chain, 'club')).toBeUndefined();
});

test('a quota may be divided into parts of its own kind, but into no other forbidden kind', () => {
  const chain = [quota('visitors', ['visitors', 'sponsor'])];
  expect([ruleAgainstChild(chain, 'visitors'), ruleAgainstChild(chain, 'club')]).toEqual([undefined, undefined]);
  expect(ruleAgainstChild(chain, 'sponsor')).toBeDefined();
});

test('a return to a parent of a forbidden kind is refused, a return to a parent of the same kind is not', () => {
  expect(ruleAgainstReturnToParent([quota('club', ['sponsor']), quota('sponsor')])).toBeDefined();
  expect(ruleAgainstReturnToParent([quota('visitors', ['visitors']), quota('visitors')])).toBeUndefined();
  expect(ruleAgainstReturnToParent([quota('club', ['club'])])).toBeUndefined();
});
