import type { QuotaKind } from '#contracts/quota-kinds';
import type { PolicyRule } from '#contracts/quota-policies';
import { globSync } from 'node:fs';
import path from 'node:path';
import type { PlaceCounts } from '../../purchase/quota-places.api.ts';
import { checkPolicy, type PlanToCheck, type QuotaToCheck } from './check-policy.ts';
import { readPolicy } from './policy-files.ts';

const kickoffAt = new Date('2027-06-01T18:00:00Z');
const daysBefore = (days: number): Date => new Date(kickoffAt.getTime() - days * 86_400_000);

const quota = (id: string, kind: QuotaKind, change: Partial<QuotaToCheck> = {}): QuotaToCheck => ({
  ...{ id, name: id, kind, returnAt: daysBefore(8), onReturn: 'public', priceCents: {}, neverTo: ['visitors'] },
  ...change,
});
const places = (quotaId: string | null, sectorId: string, total: number): PlaceCounts => ({
  ...{ quotaId, sectorId, total, free: total, invited: 0, held: 0, sold: 0 },
});

/** Two sectors of 500 places: visitors have 60 of North, whose other places are a buffer. */
const plan = (change: Partial<PlanToCheck> = {}): PlanToCheck => ({
  kickoffAt,
  sectors: [
    { id: 'N', name: 'North', capacity: 500, priceCents: 3000 },
    { id: 'S', name: 'South', capacity: 500, priceCents: 5000 },
  ],
  quotas: [quota('v', 'visitors'), quota('b', 'buffer')],
  counts: [places('v', 'N', 60), places('b', 'N', 440), places(null, 'S', 500)],
  returned: new Map(),
  cameBack: new Map(),
  ...change,
});

type RuleFields = {
  readonly [Type in PolicyRule['type']]: Omit<Extract<PolicyRule, { type: Type }>, 'id' | 'article' | 'text'>;
}[PolicyRule['type']];
const ruleOf = (fields: RuleFields): PolicyRule => ({ id: 'r', article: 'Article 1', text: 'A rule.', ...fields }) as PolicyRule;
const visitors = { kind: 'visitors' } as const;

test.each<[what: string, rule: RuleFields, change: Partial<PlanToCheck>, messages: string[]]>([
  ['exactly the share', { type: 'min_share', ...visitors, percent: 6 }, {}, []],
  [
    'less than the share',
    { type: 'min_share', ...visitors, percent: 6.1 },
    {},
    ['60 places for visitors, at least 61 are needed'],
  ],
  [
    'places that were given and returned count for the share',
    { type: 'min_share', ...visitors, percent: 10 },
    { returned: new Map([['visitors', 40]]) },
    [],
  ],
  ['no quota of the kind', { type: 'min_places', kind: 'club', places: 1 }, {}, ['0 places for club, at least 1 are needed']],
  ['a buffer beside visitors is allowed', { type: 'own_sectors', ...visitors }, {}, []],
  [
    'the public beside visitors',
    { type: 'own_sectors', ...visitors },
    { counts: [places('v', 'N', 60), places(null, 'N', 2)] },
    ['2 places of others are in sector North'],
  ],
  [
    'another quota beside visitors',
    { type: 'own_sectors', ...visitors },
    { quotas: [quota('v', 'visitors'), quota('s', 'sponsor')], counts: [places('v', 'N', 60), places('s', 'N', 3)] },
    ['3 places of others are in sector North'],
  ],
  [
    'two quotas of visitors in one sector',
    { type: 'own_sectors', ...visitors },
    { quotas: [quota('v', 'visitors'), quota('w', 'visitors')], counts: [places('v', 'N', 60), places('w', 'N', 3)] },
    [],
  ],
  [
    'places in two sectors',
    { type: 'one_sector', ...visitors },
    { counts: [places('v', 'N', 60), places('v', 'S', 3)] },
    ['has places in 2 sectors'],
  ],
  ['the ordinary price is low enough', { type: 'max_price_cents', ...visitors, cents: 3000 }, {}, []],
  [
    'the ordinary price is too high',
    { type: 'max_price_cents', ...visitors, cents: 2999 },
    {},
    ['a place in sector North costs 3000 cents, at most 2999 are allowed'],
  ],
  [
    'the own price of the quota counts',
    { type: 'max_price_cents', ...visitors, cents: 2500 },
    { quotas: [quota('v', 'visitors', { priceCents: { N: 2500 } })] },
    [],
  ],
  ['the return is in time', { type: 'return_by_days', ...visitors, days: 8 }, {}, []],
  [
    'the return is too late',
    { type: 'return_by_days', ...visitors, days: 9 },
    {},
    [`returns unused places at ${daysBefore(8).toISOString()}, at the latest ${daysBefore(9).toISOString()} is allowed`],
  ],
  [
    'places are kept',
    { type: 'return_by_days', ...visitors, days: 1 },
    { quotas: [quota('v', 'visitors', { onReturn: 'keep' })] },
    ['does not return unused places'],
  ],
  ['never_to names visitors', { type: 'never_back_to', ...visitors, to: 'visitors' }, {}, []],
  [
    'never_to does not name visitors',
    { type: 'never_back_to', ...visitors, to: 'visitors' },
    { quotas: [quota('v', 'visitors', { neverTo: ['sponsor'] })] },
    ['its never_to does not name visitors'],
  ],
  ['enough for the public', { type: 'min_public_share', percent: 50 }, {}, []],
  [
    'too few for the public',
    { type: 'min_public_share', percent: 51 },
    {},
    ['500 places for the public, at least 510 are needed'],
  ],
])('%s', (_what, fields, change, messages) => {
  const rule = ruleOf(fields);
  const policy = { name: 'p', title: 'P', source: 'S', rules: [rule] };
  const result = checkPolicy(policy, plan(change));
  expect(result.rules[0]?.breaches.map(({ message }) => message)).toEqual(messages);
  expect([result.ok, result.rules[0]?.ok, result.rules[0]?.article]).toEqual([
    messages.length === 0,
    messages.length === 0,
    'Article 1',
  ]);
});

test('places that left visitors and came back break never_back_to', () => {
  const rule = ruleOf({ type: 'never_back_to', ...visitors, to: 'visitors' });
  const cameBack = new Map([[rule, [{ quotaId: 'w', places: 7 }]]]);
  const result = checkPolicy({ name: 'p', title: 'P', source: 'S', rules: [rule] }, plan({ cameBack }));
  expect(result.rules[0]?.breaches).toEqual([{ quota_id: 'w', message: 'has 7 places that left the quotas of visitors' }]);
});

test('each file in policies/ is a policy with the name of the file and its source', async () => {
  const files = globSync('policies/*.json', { cwd: path.resolve(import.meta.dirname, '../../../../..') });
  expect(files.length).toBeGreaterThanOrEqual(2);
  for (const file of files) {
    const name = path.basename(file, '.json');
    expect(await readPolicy(name)).toMatchObject({ name, source: expect.stringMatching(/Article \d+/) as string });
  }
  expect(await readPolicy('no-such-policy')).toBeUndefined();
});

test('the plan above keeps the UEFA Conference League policy but for the 200 tickets of the club', async () => {
  const policy = (await readPolicy('uefa-conference-league-2023-24'))!;
  const broken = checkPolicy(policy, plan()).rules.filter(({ ok }) => !ok);
  expect(broken.map(({ id, article }) => [id, article])).toEqual([['top-category', 'Article 38']]);
});
