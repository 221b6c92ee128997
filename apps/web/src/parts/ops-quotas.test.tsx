import type { Match } from '#contracts/matches';
import type { PolicyCheck } from '#contracts/quota-policies';
import type { Quota, QuotaCounts, QuotaMove } from '#contracts/quotas';
import type { Sector } from '#contracts/sectors';
import { renderToStaticMarkup } from 'react-dom/server';
import { type AppServices, AppServicesContext } from '../api/app-services.ts';
import { Problem } from '../api/problem.ts';
import { TribinaApi } from '../api/tribina-api.ts';
import { OpsQuotasPage } from '../pages/ops-quotas-page.tsx';
import { PurchaseStore } from '../purchase-store.ts';
import { storage } from '../storage.ts';
import { installFakeStorage } from '../testing/browser-storage.ts';
import { installFakeServer } from '../testing/fake-network.ts';
import { LanguageProvider } from '../text/language.tsx';
import { type Language, languages } from '../text/texts.ts';
import { ProblemNotice } from './notice.tsx';
import { OpsMoveFacts } from './ops-move-facts.tsx';
import { PolicyResult } from './ops-policy-check.tsx';
import { OpsQuotaCard } from './ops-quota-card.tsx';
import { OpsQuotaChange } from './ops-quota-change.tsx';
import { OpsQuotaCreate } from './ops-quota-create.tsx';
import { OpsQuotaFacts } from './ops-quota-facts.tsx';
import { OpsQuotaMove } from './ops-quota-move.tsx';
import { OpsQuotaOverview } from './ops-quota-overview.tsx';
import { OpsQuotaPlan } from './ops-quota-plan.tsx';
import { QuotaBar, QuotaLegend } from './quota-bar.tsx';

const [matchId, east, west] = [1, 2, 3].map((n) => `0190a000-0000-7000-8000-00000000000${n}`) as [string, string, string];
const match: Match = {
  ...{ id: matchId, home: 'Hrvatska', away: 'Italija', venue: 'Poljud', kickoff_at: '2026-12-20T20:00:00.000Z', currency: 'EUR' },
  sale: { status: 'open', opens_at: null, policy: 'direct' },
  ...{ max_tickets_per_fan: 4, queue_required: false, cancelled_at: null, cancel_reason: null },
};
const sectors: Sector[] = [
  {
    ...{ id: east, name: 'East', kind: 'seated', wheelchair: false, price_cents: 4000 },
    currency: 'EUR',
    capacity: 50,
    available: 9,
  },
  {
    ...{ id: west, name: 'West', kind: 'standing', wheelchair: false, price_cents: 2000 },
    currency: 'EUR',
    capacity: 5,
    available: 0,
  },
];
const counts: QuotaCounts = { total: 1260, free: 1000, invited: 200, held: 50, sold: 10 };
const quota: Quota = {
  ...{ id: '0190a000-0000-7000-8000-0000000000a1', match_id: matchId, parent_id: null, name: 'Torcida', kind: 'fan_group' },
  ...{ members: ['0190a000-0000-7000-8000-0000000000e1'], contact_email: 'torcida@example.hr' },
  ...{ opens_at: null, claim_until: null, return_at: '2026-12-13T20:00:00.000Z', on_return: 'public', never_to: ['visitors'] },
  ...{ price_cents: { [east]: 1000 }, max_per_invitation: 4, status: 'open', returned_at: null },
  ...{ created_at: '2026-11-20T12:00:00.000Z', places: counts, subtree: counts },
  by_sector: [{ sector_id: east, total: 1260, free: 1000 }],
};
const none: QuotaCounts = { total: 0, free: 0, invited: 0, held: 0, sold: 0 };

const caller = { mode: 'mock' as const, fanId: 'ana', signedIn: true, roles: ['ops'], headers: () => ({}) };
const api = new TribinaApi({ queue_url: 'http://queue.example', auth_mode: 'mock' }, caller);
const ignore = () => undefined;

function html(element: React.ReactNode, language: Language = 'en'): string {
  installFakeStorage();
  storage.local.write('tribina.language', language);
  const services: AppServices = { api, caller, purchaseStore: new PurchaseStore('ana') };
  return renderToStaticMarkup(
    <LanguageProvider>
      <AppServicesContext value={services}>{element}</AppServicesContext>
    </LanguageProvider>,
  );
}
/** What a person reads. */
const textOf = (element: React.ReactNode, language: Language = 'en'): string =>
  html(element, language)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim();

test.each<[Language, string]>([
  ['en', '1,260 places : 1,000 free, 200 invited, 50 on hold, 10 sold'],
  ['hr', '1260 mjesta : 1000 slobodno, 200 pozvano, 50 rezervirano, 10 prodano'],
])('in the language %s a bar has its numbers as a text, and screen readers skip its drawing', (language, text) => {
  const bar = <QuotaBar counts={counts} />;
  expect(textOf(bar, language).replaceAll(/(?<=\d)[.\s](?=\d{3})/g, '')).toBe(text);
  expect(html(bar, language)).toContain('class="quota-bar" aria-hidden="true"');
});

test('the parts of a bar are in proportion to the places; a state without places has no part', () => {
  const parts = (shown: QuotaCounts) =>
    [...html(<QuotaBar counts={shown} />).matchAll(/style="flex-grow:(\d+)" data-state="(\w+)"/g)].map(
      ([, n, state]) => `${state} ${n}`,
    );
  expect(parts(counts)).toEqual(['sold 10', 'held 50', 'invited 200', 'free 1000']);
  expect(parts({ ...none, total: 3, sold: 3 })).toEqual(['sold 3']);
  expect(parts(none)).toEqual([]);
  expect(textOf(<QuotaBar counts={none} />)).toBe('0 places');
});

test('the legend names each part of the bars', () => {
  expect(textOf(<QuotaLegend />)).toBe('sold on hold invited free');
  for (const state of ['sold', 'held', 'invited', 'free']) expect(html(<QuotaLegend />)).toContain(`quota-part-${state}`);
});

test('the overview has the capacity, the part of the public and that of the quotas', () => {
  const allocation = {
    capacity: 500,
    public: { total: 300, available: 200, held: 40, sold: 50 },
    quotas: [
      { kind: 'club' as const, total: 120, sold: 0, returned: 5 },
      { kind: 'visitors' as const, total: 80, sold: 0, returned: 2 },
    ],
  };
  const shown = textOf(<OpsQuotaOverview allocation={allocation} problem={undefined} onRetry={ignore} />);
  expect(shown).toContain('Capacity 500 For the public 300 In quotas 200 Returned 7');
  expect(shown).toContain('300 places : 200 free, 40 on hold, 50 sold');
});

const card = (fields: Partial<Quota>, parts: Quota[] = []) => (
  <OpsQuotaCard
    node={{ quota: { ...quota, ...fields }, depth: 1, parts: parts.map((part) => ({ quota: part, depth: 2, parts: [] })) }}
    {...{ match, sectors, quotas: [quota] }}
    onChange={ignore}
  />
);

test('a card says what the quota is, when it returns, and names the part of the page that it opens', () => {
  const shown = html(card({}));
  const controls = /aria-expanded="false" aria-controls="([^"]+)"/.exec(shown)?.[1];
  expect(shown).toContain(`id="${controls}"`);
  expect(textOf(card({}))).toMatch(/^Torcida Fan group · returns on Sun 13 December at .* Open/);
  expect(textOf(card({ on_return: 'keep' }))).toContain('never returns');
  expect(textOf(card({ status: 'returned', returned_at: '2026-12-13T20:00:01.000Z' }))).toMatch(
    /returned on Sun 13 December .* Returned/,
  );
});

test('a quota with child quotas shows its own numbers and those of the whole subtree; its children are a list named after it', () => {
  const shown = textOf(card({}, [{ ...quota, id: east, name: 'Youth', places: none }]));
  expect(shown.match(/with all parts/g)).toHaveLength(1);
  expect(shown).toContain('Youth');
  expect(html(card({}, [{ ...quota, id: east, name: 'Youth' }]))).toContain('aria-label="Parts of Torcida"');
});

test('the facts show prices by sector, ordinary ones and amounts', () => {
  const facts = (fields: Partial<Quota>) => textOf(<OpsQuotaFacts quota={{ ...quota, ...fields }} {...{ match, sectors }} />);
  expect(facts({})).toContain('Prices €10.00');
  expect(facts({ price_cents: {} })).toContain('Prices as in the public sale');
  const both = [...quota.by_sector, { sector_id: west, total: 2, free: 0 }];
  expect(facts({ by_sector: both })).toContain('East: €10.00 West: as in the public sale');
  expect(facts({ by_sector: both })).toContain('West: 2 places, 0 free');
  expect(facts({ return_at: null })).not.toContain('They go to');
});

test.each(Object.keys(languages) as Language[])('in the language %s each field of the forms has a label', (language) => {
  const forms = [
    <OpsQuotaCreate key="create" {...{ match, sectors }} parents={[quota]} onDone={ignore} onCancel={ignore} />,
    <OpsQuotaChange key="change" {...{ match, quota }} onDone={ignore} onCancel={ignore} />,
    <OpsQuotaMove key="move" {...{ quota, sectors }} quotas={[quota]} onDone={ignore} onCancel={ignore} />,
  ];
  const counted = forms.map((form) => {
    const shown = html(form, language);
    const fields = [...shown.matchAll(/<(?:input|select|textarea)(?! type="checkbox")[^>]* id="([^"]+)"/g)].map(([, id]) => id);
    expect(fields.filter((id) => !shown.includes(`<label for="${id}"`))).toEqual([]);
    return fields.length;
  });
  expect(counted).toEqual([13, 8, 4]);
});

test('only a quota with a parent can return its places to the parent', () => {
  const change = (parent_id: string | null) =>
    html(<OpsQuotaChange match={match} quota={{ ...quota, parent_id }} onDone={ignore} onCancel={ignore} />);
  expect([change(null).includes('value="parent"'), change(east).includes('value="parent"')]).toEqual([false, true]);
});

test('places move to the public or to another open quota; a quota without free places has nothing to move', () => {
  const [other, returned] = [
    { ...quota, id: east, name: 'Club' },
    { ...quota, id: west, name: 'Over', status: 'returned' as const },
  ];
  const move = (moved: Quota) =>
    html(<OpsQuotaMove quota={moved} quotas={[quota, other, returned]} sectors={sectors} onDone={ignore} onCancel={ignore} />);
  const [targets = ''] = /<select[^>]*data-testid="move-to".*?<\/select>/.exec(move(quota)) ?? [];
  expect([...targets.matchAll(/<option[^>]*>([^<]+)/g)].map(([, name]) => name)).toEqual(['Public', 'Club']);
  expect(move({ ...quota, places: none })).toContain('This quota has no free places.');
});

test('the preview names rows and ranges, and warns of single seats', () => {
  const rows = [1, 2, 3].map((row) => ({ row: String(row), quantity: 10, is_whole: true, ranges: [{ from: 1, to: 10 }] }));
  const plan = (stranded: number, language: Language) =>
    textOf(
      <OpsQuotaPlan
        plan={{
          ...{ dry_run: true, quantity: 32, stranded },
          by_sector: [
            { sector_id: east, quantity: 30, stranded, rows, seat_ids: [] },
            { sector_id: west, quantity: 2, stranded: 0, rows: [], seat_ids: [] },
          ],
        }}
        sectors={sectors}
      />,
      language,
    );
  expect(plan(0, 'en')).toMatch(
    /^No single seat is left .* 32 places will be taken: East : 30 places Rows 1–3: seats 1–10 \(30 places, nothing is left\) West : 2 places, standing places/,
  );
  expect(plan(1, 'en')).toMatch(/^1 single seat would be left/);
  expect(plan(2, 'hr')).toMatch(/^Ostala bi 2 usamljena sjedala/);
  expect(plan(5, 'hr')).toMatch(/^Ostalo bi 5 usamljenih sjedala/);
});

test.each<[Language, Problem, string]>([
  ['en', new Problem('QUOTA_EXCEEDED', 409, { available: 3 }), 'Too few places are free: 3. Nothing was changed.'],
  ['hr', new Problem('QUOTA_EXCEEDED', 409, { available: 3 }), 'Premalo je slobodnih mjesta: 3. Ništa nije promijenjeno.'],
  ['en', new Problem('MOVE_REFUSED', 409, { rule: 'never_to: club' }), 'A rule refuses this. never_to: club'],
  ['hr', new Problem('MOVE_REFUSED', 409, { rule: 'never_to: club' }), 'Pravilo to ne dopušta. never_to: club'],
])('in the language %s a refusal has a text of its own', (language, problem, text) => {
  expect(textOf(<ProblemNotice problem={problem} />, language)).toBe(text);
});

const move: QuotaMove = {
  ...{ id: east, at: '2026-11-20T12:00:00.000Z', kind: 'move', status: 'done', actor: 'ana', approved_by: null, from: quota.id },
  ...{ to: 'public', quantity: 1, reason: 'asked for', rule: null, expires_at: null },
};
const nameOf = (owner: string) => (owner === 'public' ? 'Public' : 'Torcida');

test('a row of the ledger names owners, reason and both operators; the arrow is spoken', () => {
  const shown = (fields: Partial<QuotaMove>) => textOf(<OpsMoveFacts move={{ ...move, ...fields }} nameOf={nameOf} />);
  expect(shown({})).toMatch(/^1 place : Torcida to Public Reason: asked for Move · Fri 20 November .* · by ana$/);
  expect(shown({ approved_by: 'ivo', rule: 'never_to' })).toMatch(/Rule: never_to .* · approved by ivo$/);
  expect(shown({ kind: 'return', actor: 'system', reason: 'x' })).toMatch(/Public Return · .* · by the system$/);
  expect(shown({ status: 'pending', expires_at: '2026-11-21T12:00:00.000Z' })).toMatch(
    /Asked for by ana, .* · ends on Sat 21 November/,
  );
});

test('a policy check names every breach with the text of its rule; short, it leaves out the rules that are kept', () => {
  const rule = { id: 'a', article: 'Article 1', text: 'Visitors get 5 %.', ok: true, breaches: [] };
  const broken = {
    ...{ ...rule, id: 'b', text: 'A ticket costs at most 35 euros.', ok: false },
    breaches: [
      { quota_id: quota.id, message: 'costs 4000 cents' },
      { quota_id: null, message: '1 place' },
    ],
  };
  const check: PolicyCheck = { policy: { name: 'p', title: 'P', source: 'S' }, ok: false, rules: [rule, broken] };
  const result = (fields: Partial<PolicyCheck>, isShort: boolean) =>
    textOf(<PolicyResult check={{ ...check, ...fields }} nameOf={nameOf} isShort={isShort} />);
  expect(result({}, false)).toBe(
    '1 of 2 rules are broken. Kept Article 1 Visitors get 5 %. Broken Article 1 A ticket costs at most 35 euros. Torcida: costs 4000 cents The match: 1 place Source: S',
  );
  expect(result({}, true)).not.toContain('Visitors get 5 %.');
  expect(result({ ok: true, rules: [rule] }, true)).toBe('All rules are kept. Source: S');
});

test.each(Object.keys(languages) as Language[])('in the language %s the page says that it loads', (language) => {
  expect(textOf(<OpsQuotasPage matchId={matchId} />, language)).toContain(languages[language].common.loading);
});

describe('the calls of the page', () => {
  test('it reads the quotas to their last page, and the ledger to the page that is asked for', async () => {
    const asked: string[] = [];
    installFakeServer(({ url }) => {
      asked.push(url.search);
      return Response.json({ items: [{ id: asked.length }], next_cursor: asked.length % 3 === 0 ? null : 'abc' });
    });
    expect(await api.opsQuotas(matchId)).toHaveLength(3);
    const { items, isMore } = await api.opsMoves(matchId, 'done', 2);
    expect([items.length, isMore]).toEqual([2, true]);
    expect(asked).toEqual([
      '?limit=100',
      '?limit=100&cursor=abc',
      '?limit=100&cursor=abc',
      '?status=done&limit=100',
      '?status=done&limit=100&cursor=abc',
    ]);
  });

  test('a preview asks for a dry run; a change is a PATCH with an idempotency key', async () => {
    const asked: unknown[] = [];
    installFakeServer(({ method, url, headers, body }) => {
      asked.push([method, url.pathname, headers.has('idempotency-key'), body]);
      return Response.json({ dry_run: true });
    });
    await api.opsPlanQuota(matchId, { name: 'a', kind: 'club', places: [{ quantity: 1 }] });
    await api.opsChangeQuota(east, { name: 'b' });
    expect(asked).toEqual([
      [
        'POST',
        `/api/v1/ops/matches/${matchId}/quotas`,
        true,
        { name: 'a', kind: 'club', places: [{ quantity: 1 }], dry_run: true },
      ],
      ['PATCH', `/api/v1/ops/quotas/${east}`, true, { name: 'b' }],
    ]);
  });
});
