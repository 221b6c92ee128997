import { jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from './accessibility.ts';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { Fan } from './fan.ts';
import { collectBrowserErrors, takeScreenshot } from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// Operators divide the places of a match into quotas, move places, decide about a move that a rule refuses, and check the rules of a
// competition: on the page, by keyboard, in both languages.
jest.setTimeout(120_000);

const HOUR_MS = 3_600_000;
const LONG_NAME = 'Udruga prijatelja nogometa i podupiratelja Đurđica Šćepanović-Žižić iz Nizozemske';
const policy = 'uefa-conference-league-2023-24';
let system: StartedSystem;
let launched: LaunchedBrowser | undefined;
let matchId: string;

beforeAll(async () => {
  system = await startSystem({ RATE_LIMIT_IP_PER_MINUTE: '0' });
  launched = await launchBrowser();
  const seated = { kind: 'seated', price_cents: 4000, rows: 10, seats_per_row: 10 };
  const created = await new Fan(system, 'ops').call<{ id: string }>('POST', '/ops/matches', {
    ...{ home: 'Hrvatska', away: 'Italija', venue: 'Poljud', currency: 'EUR', max_tickets_per_fan: 4, queue_required: false },
    kickoff_at: new Date(Date.now() + 30 * 24 * HOUR_MS).toISOString(),
    sectors: [
      { ...seated, name: 'Istok' },
      { ...seated, name: 'Zapad' },
      { kind: 'standing', name: 'Sjever', price_cents: 2000, capacity: 300 },
    ],
  });
  matchId = created.body.id;
});

afterAll(async () => {
  await launched?.close();
  await system?.stop();
});

async function openPage({ width = 1280, height = 800, locale = 'en-GB' } = {}) {
  const context = await launched!.browser.newContext({ viewport: { width, height }, locale });
  context.setDefaultTimeout(8_000);
  const tab = await context.newPage();
  return { context, tab, browserErrors: collectBrowserErrors(tab) };
}

const openQuotas = (tab: Page) => tab.goto(`${system.publicUrl}/ops/matches/${matchId}/quotas`);
const quotaCard = (tab: Page, name: string) => tab.getByTestId('quota').filter({ has: tab.getByRole('button', { name }) });
const happened = (tab: Page) => tab.getByTestId('quota-happened');
/** What a person who uses the keyboard is on. */
const focused = (tab: Page): Promise<unknown> =>
  tab.evaluate('document.activeElement?.dataset.testid ?? document.activeElement?.id');
const fits = (tab: Page): Promise<unknown> => tab.evaluate('document.documentElement.scrollWidth');
/** A time as a `datetime-local` field has it. */
const localTime = (hours: number): string => {
  const at = new Date(Date.now() + hours * HOUR_MS);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

interface NewQuota {
  readonly name: string;
  readonly kind: string;
  readonly quantity: number;
  readonly sector?: string;
  readonly parent?: string;
}

/** Fills the form for a new quota, whose only line asks for places of a sector, or of any. */
async function fillQuota(tab: Page, { name, kind, quantity, sector, parent }: NewQuota): Promise<void> {
  await tab.getByTestId('quota-name').fill(name);
  await tab.getByTestId('quota-kind').selectOption(kind);
  if (parent) await tab.getByTestId('quota-parent').selectOption({ label: parent });
  if (sector) {
    const option = tab.getByTestId('quota-line-0-sector').locator('option').filter({ hasText: sector });
    await tab.getByTestId('quota-line-0-sector').selectOption((await option.getAttribute('value')) ?? '');
  }
  await tab.getByTestId('quota-line-0-quantity').fill(String(quantity));
}

async function createQuota(tab: Page, quota: NewQuota): Promise<void> {
  await tab.getByTestId('quota-new').press('Enter');
  await fillQuota(tab, quota);
  await tab.getByTestId('quota-preview').press('Enter');
  await tab.getByTestId('quota-confirm').press('Enter');
  await happened(tab).filter({ hasText: quota.name }).waitFor();
  await quotaCard(tab, quota.name).waitFor();
}

/** Opens the form of a quota that moves its places, and fills it. */
async function fillMove(tab: Page, from: string, { to, quantity }: { to: string; quantity: number }): Promise<void> {
  const card = quotaCard(tab, from);
  if ((await card.getByTestId('quota-open').getAttribute('aria-expanded')) === 'false')
    await card.getByTestId('quota-open').press('Enter');
  await card.getByTestId('quota-move').press('Enter');
  await card.getByTestId('move-to').selectOption({ label: to });
  await card.getByTestId('quota-line-0-quantity').fill(String(quantity));
  await card.getByTestId('move-reason').fill('asked for by phone');
}

test('the page explains itself while a service does not answer, and when there are no quotas', async () => {
  const { context, tab } = await openPage();
  const list = /\/ops\/matches\/[^/]+\/quotas\?/;
  const json = { code: 'DEPENDENCY_UNAVAILABLE', status: 503 };
  await tab.route(list, (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json }));
  await openQuotas(tab);
  await tab.getByTestId('problem').waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.unroute(list);
  await tab.getByRole('button', { name: 'Try again' }).click();
  expect(await tab.getByTestId('quota-none').innerText()).toContain('There are no quotas yet.');
  expect(await tab.getByTestId('quota-overview').innerText()).toMatch(/Capacity\s+500/);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-15-quotas-empty');
  await context.close();
});

test('an operator creates quotas by keyboard: faults are marked, and the preview names rows and single seats', async () => {
  const { context, tab, browserErrors } = await openPage();
  await tab.goto(`${system.publicUrl}/ops?match=${matchId}`);
  await tab.getByTestId('ops-quotas-link').press('Enter');
  await tab.getByTestId('quota-new').press('Enter');
  await tab.getByTestId('quota-preview').press('Enter');
  expect([await focused(tab), await tab.locator('[aria-invalid=true]').count()]).toEqual(['quota-name', 3]);
  // The same faults again: the focus moves again.
  await tab.getByTestId('quota-preview').press('Enter');
  expect(await focused(tab)).toBe('quota-name');
  expect(await accessibilityFaults(tab)).toEqual([]);

  await fillQuota(tab, { name: 'Gosti', kind: 'visitors', sector: 'Istok', quantity: 101 });
  await tab.getByTestId('quota-preview').press('Enter');
  await tab.getByText('Only 100 places are free.').waitFor();
  expect(await focused(tab)).toBe('quota-line-0-quantity');
  await tab.getByTestId('quota-line-0-quantity').fill('29');
  await tab.getByTestId('quota-line-0-price').fill('35');
  await tab.getByTestId('quota-return-at').fill(localTime(48));
  await tab.getByTestId('quota-never-club').press('Space');
  await tab.getByTestId('quota-preview').press('Enter');
  const plan = tab.getByTestId('quota-plan');
  await plan.waitFor();
  expect(await focused(tab)).toBe('quota-plan-title');
  expect(await plan.innerText()).toMatch(/29 places will be taken[^]*Istok: 29 places[^]*Rows \d+–\d+: seats 1–10 \(20 places/);
  expect(await plan.getByTestId('quota-stranded').first().innerText()).toMatch(/single seat/);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-16-quota-preview');
  expect((await new Fan(system, 'ops').call<{ items: unknown[] }>('GET', `/ops/matches/${matchId}/quotas`)).body.items).toEqual(
    [],
  );
  await tab.getByTestId('quota-line-0-quantity').fill('30');
  await plan.waitFor({ state: 'detached' });
  await tab.getByTestId('quota-preview').press('Enter');
  await tab.getByTestId('quota-confirm').press('Enter');
  await happened(tab).filter({ hasText: 'Gosti was created.' }).waitFor();
  expect(await focused(tab)).toBe('quota-tree');

  await createQuota(tab, { name: 'Torcida', kind: 'fan_group', parent: 'Gosti', quantity: 10 });
  await createQuota(tab, { name: LONG_NAME, kind: 'club', quantity: 120 });
  expect(await quotaCard(tab, 'Gosti').first().getByTestId('quota-numbers').allInnerTexts()).toEqual([
    '20 places: 20 free',
    'with all parts: 30 places: 30 free',
  ]);
  expect(await tab.getByTestId('quota-node').filter({ hasText: 'Gosti' }).getByTestId('quota').count()).toBe(2);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-17-quotas');
  expect(browserErrors).toEqual([expect.stringContaining('409')]);
  await context.close();
});

test('an operator changes deadlines; a deadline in the wrong order is marked and not sent', async () => {
  const { context, tab, browserErrors } = await openPage();
  await openQuotas(tab);
  const card = quotaCard(tab, 'Torcida');
  await card.getByTestId('quota-open').press('Enter');
  await card.getByTestId('quota-change').press('Enter');
  await card.getByTestId('quota-name').fill('Torcida Split');
  await card.getByTestId('quota-contact').fill('torcida@example.hr');
  await card.getByTestId('quota-claim-until').fill(localTime(24));
  await card.getByTestId('quota-return-at').fill(localTime(12));
  await card.getByTestId('quota-save').press('Enter');
  expect(await focused(tab)).toBe('quota-return-at');
  await card.getByText('This is not after the deadline before it.').waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await card.getByTestId('quota-return-at').fill(localTime(36));
  await card.getByTestId('quota-save').press('Enter');
  await happened(tab).filter({ hasText: 'Torcida Split was changed.' }).waitFor();
  await quotaCard(tab, 'Torcida Split').getByText('torcida@example.hr').waitFor();
  expect(await quotaCard(tab, 'Torcida Split').getByTestId('quota-open').innerText()).toContain('returns on');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('a move that a rule refuses waits for a second operator, who approves it; the ledger has every move', async () => {
  const first = await openPage();
  await openQuotas(first.tab);
  await fillMove(first.tab, 'Gosti', { to: 'Public', quantity: 5 });
  await quotaCard(first.tab, 'Gosti').getByTestId('move-send').press('Enter');
  await happened(first.tab).filter({ hasText: '5 places moved to Public.' }).waitFor();
  await fillMove(first.tab, 'Gosti', { to: LONG_NAME, quantity: 3 });
  await quotaCard(first.tab, 'Gosti').getByTestId('move-send').press('Enter');
  const refusal = quotaCard(first.tab, 'Gosti').getByTestId('problem');
  expect(await refusal.innerText()).toContain('never_to: places of "Gosti" never go to club');
  expect(await accessibilityFaults(first.tab)).toEqual([]);
  await quotaCard(first.tab, 'Gosti').getByTestId('move-ask').press('Enter');
  await happened(first.tab).filter({ hasText: 'waits for a second operator' }).waitFor();
  await first.tab.getByTestId('pending-own').waitFor();
  expect(await first.tab.getByTestId('move-approve').count()).toBe(0);
  await quotaCard(first.tab, 'Gosti').getByText('15 places: 12 free, 3 on hold').waitFor();

  const second = await openPage({ locale: 'hr-HR' });
  await openQuotas(second.tab);
  await second.tab.getByTestId('pending-move').waitFor();
  expect(await accessibilityFaults(second.tab)).toEqual([]);
  await takeScreenshot(second.tab, 'journey-18-quotas-pending');
  await second.tab.getByTestId('move-approve').press('Enter');
  expect(await focused(second.tab)).toBe('move-approve-yes');
  await second.tab.keyboard.press('Enter');
  await happened(second.tab).filter({ hasText: 'Premještaj je odobren.' }).waitFor();
  await second.tab.getByTestId('pending-move').waitFor({ state: 'detached' });
  const rows = second.tab.getByTestId('ledger-row');
  await rows.nth(4).waitFor();
  expect(await rows.last().innerText()).toMatch(/3 mjesta: Gosti\s+u\s+Udruga[^]*never_to[^]*odobrenje/);
  await quotaCard(second.tab, 'Gosti').getByText('12 mjesta: 12 slobodno').waitFor();
  expect(second.browserErrors).toEqual([]);
  expect(first.browserErrors).toEqual([expect.stringContaining('409')]);
  await second.context.close();
  await first.context.close();
});

test('the rules of a competition: every breach with the text of its rule, on the page and beside the sale', async () => {
  const { context, tab, browserErrors } = await openPage();
  await openQuotas(tab);
  await tab.getByTestId('policy').selectOption(policy);
  expect(await tab.getByTestId('policy-result').innerText()).toContain('of 6 rules are broken.');
  const broken = tab.locator('[data-testid=policy-rule][data-ok=false]');
  const texts = (await broken.allInnerTexts()).join('\n');
  expect(texts).toContain('The places of visiting supporters are in a segregated area.');
  expect(texts).toContain('Gosti: 88 places of others are in sector Istok');
  expect(await tab.locator('[data-testid=policy-rule][data-ok=true]').count()).toBeGreaterThan(0);
  expect(await accessibilityFaults(tab)).toEqual([]);

  await tab.goto(`${system.publicUrl}/ops?match=${matchId}`);
  const summary = tab.getByTestId('ops-quotas');
  await summary.getByTestId('policy-result').waitFor();
  expect(await summary.innerText()).toMatch(/3 quotas, 145 places[^]*Gosti: 88 places of others are in sector Istok/);
  expect(await summary.locator('[data-ok=true]').count()).toBe(0);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-19-sale-policy');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('the ledger is read a hundred moves at a time; the list stays while more of it is read', async () => {
  const ops = new Fan(system, 'ops');
  const { body } = await ops.call<{ items: { id: string; name: string }[] }>('GET', `/ops/matches/${matchId}/quotas`);
  const from = body.items.find(({ name }) => name === LONG_NAME)?.id;
  const move = { to: 'public', places: [{ quantity: 1 }], reason: 'one more' };
  for (let moved = 0; moved < 97; moved += 1) await ops.call('POST', `/ops/quotas/${from}/moves`, move);
  const { context, tab } = await openPage();
  await openQuotas(tab);
  await tab.getByTestId('ledger-row').nth(99).waitFor();
  expect(await tab.getByTestId('ledger-row').count()).toBe(100);
  await tab.getByTestId('ledger-more').press('Enter');
  await tab.getByTestId('ledger-row').nth(101).waitFor();
  expect([await tab.getByTestId('ledger-row').count(), await tab.getByTestId('ledger-more').count()]).toEqual([102, 0]);
  await context.close();
});

test.each(['hr-HR', 'en-GB'])('on a phone the page fits the screen, with long names and open forms (%s)', async (locale) => {
  const { context, tab, browserErrors } = await openPage({ width: 390, height: 844, locale });
  await openQuotas(tab);
  const card = quotaCard(tab, LONG_NAME);
  await card.getByTestId('quota-open').press('Enter');
  await card.getByTestId('quota-move').press('Enter');
  await tab.getByTestId('quota-new').press('Enter');
  await tab.getByTestId('policy').selectOption(policy);
  await tab.getByTestId('policy-result').waitFor();
  expect([await accessibilityFaults(tab), await fits(tab)]).toEqual([[], 390]);
  await takeScreenshot(tab, `journey-20-quotas-phone-${locale.slice(0, 2)}`);
  expect(browserErrors).toEqual([]);
  await context.close();
});
