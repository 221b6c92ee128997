import { jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from './accessibility.ts';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { Fan, pollUntil } from './fan.ts';
import { collectBrowserErrors, fanId, focused, pay, readTickets, takeScreenshot } from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// A partner invites people by form and by CSV; they read the mail, open the link, claim, check out and get tickets. The match is
// sold from a waiting room: an invitation needs no turn.
jest.setTimeout(180_000);

const DURDICA = 'Đurđica Šćepanović-Žižić';
const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

let system: StartedSystem;
let launched: LaunchedBrowser | undefined;
let ops: Fan;
let partner: Opened;
const quotas = { paid: '', free: '', early: '' };
let match: { id: string; sectors: { id: string; name: string; price_cents: number }[] };
let paidLink: string;
let freeLink: string;

interface Opened {
  readonly tab: Page;
  readonly browserErrors: readonly string[];
  close(): Promise<void>;
}
type Locale = 'hr-HR' | 'en-GB';

beforeAll(async () => {
  system = await startSystem({ RATE_LIMIT_IP_PER_MINUTE: '0' });
  launched = await launchBrowser();
  ops = new Fan(system, 'ops');
  partner = await openBrowser('desktop', 'en-GB');
  const { body } = await ops.call<{ items: { id: string; queue_required: boolean }[] }>('GET', '/matches');
  const id = body.items.find(({ queue_required }) => queue_required)?.id ?? '';
  const sectors = await ops.call<{ items: typeof match.sectors }>('GET', `/matches/${id}/sectors`);
  match = { id, sectors: sectors.body.items };
});

afterAll(async () => {
  await launched?.close();
  await system?.stop();
});

/** Opens an empty browser of a person: a large screen, or a phone. */
async function openBrowser(screen: 'desktop' | 'phone', locale: Locale): Promise<Opened> {
  const viewport = screen === 'desktop' ? { width: 1280, height: 800 } : { width: 390, height: 844 };
  const context = await launched!.browser.newContext({ viewport, locale });
  const tab = await context.newPage();
  return { tab, browserErrors: collectBrowserErrors(tab), close: () => context.close() };
}

async function createQuota(name: string, fields: object = {}): Promise<string> {
  const members = [await fanId(partner.tab)];
  const places = match.sectors.slice(0, 2).map(({ id }) => ({ sector_id: id, quantity: 5 }));
  const quota = { name, kind: 'sponsor', members, places, claim_until: hoursFromNow(48), ...fields };
  const answer = await ops.call<{ id: string }>('POST', `/ops/matches/${match.id}/quotas`, quota);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

/** The links in the mails of invitations to this address, newest first. */
async function linksTo(email: string, count = 1): Promise<string[]> {
  const read = () =>
    ops.call<{ items: { template: string; text: string }[] }>(
      'GET',
      `${system.workerUrl}/mailbox?template=quota_invitation&to=${email}`,
    );
  const { body } = await pollUntil(read, (answer) => answer.body.items.length >= count, 20_000);
  expect(body.items).toHaveLength(count);
  return body.items.map(({ text }) => /http\S+\/invitation#inv_[\w-]{43}/.exec(text)?.[0] ?? text);
}

const stateOf = (tab: Page, state: string) => tab.locator(`[data-testid=invitation-state][data-state=${state}]`).waitFor();
const invitationOf = (tab: Page, email: string) => tab.getByTestId('invitation').filter({ hasText: email });
const happened = (tab: Page) => tab.getByTestId('invitation-happened');
const widthOf = (tab: Page) => tab.evaluate('document.documentElement.scrollWidth');

/** Opens a link from a mail. The same page with another fragment would not be loaded again. */
async function openLink(tab: Page, link: string): Promise<void> {
  await tab.goto('about:blank');
  await tab.goto(link);
}

async function openQuota(quotaId: string): Promise<Page> {
  await partner.tab.goto(`${system.publicUrl}/quotas/${quotaId}`);
  await partner.tab.getByTestId('quota-total').waitFor();
  return partner.tab;
}

test('somebody who acts for no quota reads the user id that the organiser needs; then the partner sees the quotas', async () => {
  const { tab } = partner;
  await tab.goto(`${system.publicUrl}/quotas`);
  expect(await tab.getByTestId('quotas-none').innerText()).toContain(await fanId(tab));
  expect(await accessibilityFaults(tab)).toEqual([]);
  quotas.paid = await createQuota('Torcida');
  const free = Object.fromEntries(match.sectors.map(({ id }) => [id, 0]));
  quotas.free = await createQuota('Sponzori', { price_cents: free, return_at: hoursFromNow(50) });
  quotas.early = await createQuota('Mediji', { opens_at: hoursFromNow(2) });
  await tab.reload();
  await tab.getByTestId('quota').nth(2).waitFor();
  const torcida = tab.locator(`[data-quota-id="${quotas.paid}"]`);
  expect(await torcida.getByTestId('quota-free').innerText()).toBe('10');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-15-quotas');
  await torcida.getByTestId('open-quota').press('Enter');
  await tab.getByRole('heading', { level: 1, name: 'Torcida' }).waitFor();
});

test('the partner invites a person by form, with the keyboard alone', async () => {
  const { tab } = partner;
  await tab.getByTestId('invite-email').focus();
  await tab.keyboard.press('Enter');
  expect(await focused(tab)).toBe('invite-email');
  await tab.keyboard.type('ana@example.com');
  await tab.keyboard.press('Tab');
  await tab.keyboard.type('Ana Horvat');
  await tab.keyboard.press('Tab');
  await tab.keyboard.type('9');
  await tab.keyboard.press('Enter');
  await tab.getByText('Enter a number from 1 to 4.').waitFor();
  expect(await focused(tab)).toBe('invite-quantity');
  await tab.keyboard.press('ControlOrMeta+A');
  await tab.keyboard.type('2');
  await tab.keyboard.press('Tab');
  expect(await focused(tab)).toBe('invite-locale');
  await tab.getByTestId('invite-locale').selectOption('hr');
  await tab.keyboard.press('Tab');
  await tab.keyboard.press('Tab');
  expect(await focused(tab)).toBe('invite-note');
  await tab.keyboard.type('Loža 3');
  await tab.getByTestId('invite-end').fill('2020-01-01T12:00');
  await tab.getByTestId('invite-note').press('Enter');
  await tab.getByText('Choose a time in the future.').waitFor();
  expect(await focused(tab)).toBe('invite-end');
  const end = hoursFromNow(30).slice(0, 16);
  await tab.getByTestId('invite-end').fill(end);
  await tab.getByTestId('invite-note').press('Enter');
  await happened(tab).filter({ hasText: 'Invited: ana@example.com.' }).waitFor();
  await invitationOf(tab, 'ana@example.com').waitFor();
  const invitations = await ops.call<{ items: { expires_at: string }[] }>('GET', `/quotas/${quotas.paid}/invitations`);
  expect(invitations.body.items.map(({ expires_at }) => expires_at)).toEqual([new Date(end).toISOString()]);
  expect(await focused(tab)).toBe('invite-email');
  await tab.getByTestId('quota-invited').filter({ hasText: /^2$/ }).waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  [paidLink = ''] = await linksTo('ana@example.com');
  expect(paidLink).toMatch(new RegExp(`^${system.publicUrl}/invitation#inv_`));
});

test('the partner invites a list by CSV: preview, confirmation, and no second mail however often it is sent', async () => {
  const tab = await openQuota(quotas.free);
  const list = [
    'email;name;quantity;locale',
    `durda@example.com;${DURDICA};2;hr`,
    'ivo@example.com;Ivo;1;en',
    'zora;;1;',
    'mia@example.com;;5;',
  ];
  const buffer = Buffer.from(`\ufeff${list.join('\r\n')}\r\n`);
  const choose = () => tab.getByTestId('list-file').setInputFiles({ name: 'sponzori.csv', mimeType: 'text/csv', buffer });
  const verdicts = () =>
    tab
      .getByTestId('invite-verdict')
      .evaluateAll((rows) => rows.map((row) => (row as unknown as { dataset: { status: string } }).dataset.status));
  await tab
    .getByTestId('list-file')
    .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from([0x8e, 0x69, 0x9e]) });
  await tab.getByTestId('check-list').click();
  await tab.getByText('The file is not UTF-8').waitFor();
  await choose();
  expect(await tab.getByTestId('list-key').inputValue()).toBe('sponzori.csv');
  await tab.getByTestId('check-list').click();
  await tab.getByTestId('invite-verdicts').getByText(DURDICA).waitFor();
  expect(await verdicts()).toEqual(['created', 'created', 'refused', 'refused']);
  expect(await tab.getByTestId('invite-summary').innerText()).toBe('2 people will be invited, 0 invited before, 2 rows refused.');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-16-list');
  expect(await tab.getByTestId('quota-invited').innerText()).toBe('0');

  await tab.getByTestId('confirm-list').dblclick();
  await happened(tab).filter({ hasText: '2 people invited' }).waitFor();
  await tab.getByTestId('quota-invited').filter({ hasText: /^3$/ }).waitFor();
  expect(await invitationOf(tab, 'durda@example.com').innerText()).toContain(DURDICA);
  // The newest come first, so that the partner sees them however many there are.
  expect(await tab.getByTestId('invitation').first().innerText()).toContain('ivo@example.com');
  // The page asks again after a reload too, because the name of the list is the name of the file.
  await tab.reload();
  await choose();
  await tab.getByTestId('check-list').click();
  await tab.getByTestId('invite-verdicts').waitFor();
  expect(await verdicts()).toEqual(['duplicate', 'duplicate', 'refused', 'refused']);
  expect(await tab.getByTestId('confirm-list').count()).toBe(0);
  [freeLink = ''] = await linksTo('durda@example.com');
  await linksTo('ivo@example.com');
});

test('an invited person on a phone, in Croatian, makes an account, claims, pays and has the tickets', async () => {
  const { tab, browserErrors, close } = await openBrowser('phone', 'hr-HR');
  const requested: string[] = [];
  tab.on('request', (request) => requested.push(request.url()));
  await openLink(tab, paidLink);
  await stateOf(tab, 'open');
  expect(new URL(tab.url()).hash).toBe('');
  const token = paidLink.split('#')[1] ?? '';
  expect(await tab.evaluate(`JSON.stringify(localStorage).includes('${token}')`)).toBe(false);
  await tab.reload();
  await stateOf(tab, 'open');
  expect(requested.filter((url) => url.includes('inv_') && !url.startsWith(paidLink.split('#')[0]!))).toEqual([]);
  expect(await tab.getByTestId('invitation-price').innerText()).toContain(
    ((2 * (match.sectors[0]?.price_cents ?? 0)) / 100).toLocaleString('hr', { minimumFractionDigits: 2 }),
  );
  await tab.getByTestId('claim').click();
  expect(await focused(tab)).toBe('account-name');
  expect(await accessibilityFaults(tab)).toEqual([]);
  expect(await widthOf(tab)).toBe(390);
  await takeScreenshot(tab, 'journey-17-invitation-phone');
  await tab.getByTestId('account-name').fill('Ana Horvat');
  await tab.getByTestId('account-email').fill('ana@example.com');
  await tab.getByTestId('claim').click();
  expect(await tab.getByTestId('holder-name-0').inputValue()).toBe('Ana Horvat');
  expect(await tab.getByTestId('email').inputValue()).toBe('ana@example.com');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-18-invitation-checkout');
  await tab.locator('.back-link').click();
  await stateOf(tab, 'mine');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.getByTestId('invitation-checkout').click();
  await tab.getByTestId('holder-name-1').fill('Ivo Horvat');
  await tab.getByTestId('place-order').click();
  await pay(tab);
  const tickets = await readTickets(tab, 2);
  expect(tickets.map(({ holder, status }) => [holder, status])).toEqual([
    ['Ana Horvat', 'valid'],
    ['Ivo Horvat', 'valid'],
  ]);
  expect(browserErrors).toEqual([]);
  // The same fan opens the link again: the places are paid, and the page leads to the tickets.
  await openLink(tab, paidLink);
  await stateOf(tab, 'taken');
  await tab.getByTestId('claim').click();
  await tab.getByRole('main').locator('a[href="/tickets"]').waitFor();
  await close();
});

test('somebody else with the same link reads that the places are taken', async () => {
  const { tab, close } = await openBrowser('desktop', 'en-GB');
  await openLink(tab, paidLink);
  await stateOf(tab, 'taken');
  await tab.getByTestId('account-name').fill('Somebody Else');
  await tab.getByTestId('account-email').fill('else@example.com');
  await tab.getByTestId('claim').click();
  await stateOf(tab, 'lost');
  expect(await tab.getByTestId('claim').count()).toBe(0);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await close();
});

test('an invitation free of charge, by keyboard: the checkout asks for no payment and leads to the tickets', async () => {
  const { tab, browserErrors, close } = await openBrowser('desktop', 'en-GB');
  await openLink(tab, freeLink);
  await stateOf(tab, 'open');
  expect(await tab.getByTestId('invitation-price').innerText()).toBe('free of charge');
  await takeScreenshot(tab, 'journey-19-invitation-free');
  await tab.getByTestId('account-name').focus();
  await tab.keyboard.type(DURDICA);
  await tab.keyboard.press('Tab');
  await tab.keyboard.type('durda@example.com');
  await tab.keyboard.press('Enter');
  await tab.getByTestId('holders-form').waitFor();
  expect(await tab.getByRole('main').getByText('Payment').count()).toBe(0);
  await tab.getByTestId('holder-name-1').focus();
  await tab.keyboard.type('Ivo Žižić');
  await tab.keyboard.press('Enter');
  await tab.locator('[data-testid=order-status][data-status=completed]').waitFor();
  const tickets = await readTickets(tab, 2);
  expect(tickets.map(({ holder }) => holder)).toEqual([DURDICA, 'Ivo Žižić']);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-20-invitation-tickets');
  expect(browserErrors).toEqual([]);
  await close();
});

test('the partner sends an invitation again and withdraws it: the old link, and then the new one, stop working', async () => {
  const tab = await openQuota(quotas.free);
  await invitationOf(tab, 'durda@example.com').and(tab.locator('[data-status=claimed]')).waitFor();
  const ivo = invitationOf(tab, 'ivo@example.com');
  const [oldLink = ''] = await linksTo('ivo@example.com');
  await ivo.getByTestId('resend').press('Enter');
  expect(await focused(tab)).toBe('resend-yes');
  await tab.keyboard.press('Enter');
  await happened(tab).filter({ hasText: 'Sent again: Ivo.' }).waitFor();
  expect(await focused(tab)).toBe('invitations');
  const newLink = (await linksTo('ivo@example.com', 2)).find((link) => link !== oldLink) ?? '';

  const fan = await openBrowser('phone', 'hr-HR');
  await openLink(fan.tab, oldLink);
  await fan.tab.getByTestId('invitation-wrong').waitFor();
  expect(await accessibilityFaults(fan.tab)).toEqual([]);
  await openLink(fan.tab, newLink);
  await stateOf(fan.tab, 'open');

  await ivo.getByTestId('withdraw').press('Enter');
  await tab.getByTestId('withdraw-yes').waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.keyboard.press('Tab');
  await tab.keyboard.press('Enter');
  expect([await focused(tab), await ivo.getAttribute('data-status')]).toEqual(['withdraw', 'open']);
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('Enter');
  await happened(tab).filter({ hasText: 'Withdrawn: Ivo.' }).waitFor();
  await ivo.and(tab.locator('[data-status=withdrawn]')).waitFor();
  await takeScreenshot(tab, 'journey-21-invitations');

  await fan.tab.getByTestId('account-name').fill('Ivo');
  await fan.tab.getByTestId('account-email').fill('ivo@example.com');
  await fan.tab.getByTestId('claim').click();
  await stateOf(fan.tab, 'withdrawn');
  expect(await accessibilityFaults(fan.tab)).toEqual([]);
  await fan.close();
  expect(partner.browserErrors).toEqual([]);
});

test('the page says when an invitation opens, when it is over, and when there is no connection', async () => {
  const invite = (quotaId: string, fields: object) => ops.call('POST', `/quotas/${quotaId}/invitations`, { ...fields });
  await invite(quotas.early, { invitations: [{ email: 'early@example.com', quantity: 1 }] });
  await invite(quotas.paid, {
    invitations: [{ email: 'late@example.com', quantity: 1 }],
    expires_at: new Date(Date.now() + 5_000).toISOString(),
  });
  const [[early = ''], [late = '']] = await Promise.all([linksTo('early@example.com'), linksTo('late@example.com')]);
  const { tab, close } = await openBrowser('phone', 'hr-HR');
  await openLink(tab, early);
  await stateOf(tab, 'early');
  expect(await tab.getByTestId('claim').count()).toBe(0);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await openLink(tab, late);
  await tab.locator('[data-state=open], [data-state=expired]').waitFor();
  const lookUp = () => ops.call<{ status: string }>('POST', '/invitations/lookup', { token: late.split('#')[1] });
  await pollUntil(lookUp, ({ body }) => body.status === 'expired');
  await tab.reload();
  await stateOf(tab, 'expired');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await openLink(tab, `${system.publicUrl}/invitation#inv_damaged`);
  await tab.getByTestId('invitation-wrong').waitFor();

  await tab.route(/\/invitations\/lookup$/, (route) => route.abort('internetdisconnected'));
  await openLink(tab, early);
  await tab.getByTestId('problem').waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.unroute(/\/invitations\/lookup$/);
  await tab.getByRole('button', { name: 'Pokušaj ponovno' }).click();
  await stateOf(tab, 'early');
  await close();
});
