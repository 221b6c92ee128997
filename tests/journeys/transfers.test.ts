import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from './accessibility.ts';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { Fan, pollUntil } from './fan.ts';
import * as page from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// A fan buys two tickets and offers them; a friend reads the mail, opens the page and accepts one. Another fan erases the account. An
// operator locks the transfers.
jest.setTimeout(180_000);

const FRIEND = 'friend@example.com';

let system: StartedSystem;
let launched: LaunchedBrowser | undefined;
let ops: Fan;
let matchId: string;
let giver: Opened;

interface Opened {
  readonly tab: Page;
  readonly browserErrors: readonly string[];
  close(): Promise<void>;
}

beforeAll(async () => {
  system = await startSystem({ RATE_LIMIT_IP_PER_MINUTE: '0', RATE_LIMIT_USER_PER_MINUTE: '0' });
  launched = await launchBrowser();
  ops = new Fan(system, 'ops');
  const { body } = await ops.call<{ items: { id: string; queue_required: boolean }[] }>('GET', '/matches');
  matchId = body.items.find(({ queue_required }) => !queue_required)?.id ?? '';
  giver = await openBrowser('desktop', 'en-GB');
  const { tab } = giver;
  await page.openMatches(tab, system.publicUrl);
  await page.openMatch(tab, matchId);
  await page.holdBestSeats(tab, { sector: 1, quantity: 2 });
  await page.checkOut(tab, { names: ['Ana Horvat', 'Ivo Horvat'], email: 'giver@example.com' });
  await page.pay(tab);
});

afterAll(async () => {
  await launched?.close();
  await system?.stop();
});

/** Opens an empty browser of a person: a large screen, or a phone. */
async function openBrowser(screen: 'desktop' | 'phone', locale: 'hr-HR' | 'en-GB'): Promise<Opened> {
  const viewport = screen === 'desktop' ? { width: 1280, height: 800 } : { width: 390, height: 844 };
  const context = await launched!.browser.newContext({ viewport, locale });
  const tab = await context.newPage();
  return { tab, browserErrors: page.collectBrowserErrors(tab), close: () => context.close() };
}

/** The texts of the mails of this template to the address, newest first. */
async function mailsTo(email: string, template: string, count = 1): Promise<string[]> {
  const url = `${system.workerUrl}/mailbox?template=${template}&to=${email}`;
  const read = () => ops.call<{ items: { text: string }[] }>('GET', url);
  const { body } = await pollUntil(read, (answer) => answer.body.items.length >= count, 20_000);
  expect(body.items).toHaveLength(count);
  return body.items.map(({ text }) => text);
}

const isIn = async (tab: Page, testId: string): Promise<void> => tab.getByTestId(testId).first().waitFor();
const widthOf = (tab: Page) => tab.evaluate('document.documentElement.scrollWidth');
/** Moves the focus with Tab until it is on this element. */
async function tabTo(tab: Page, testId: string): Promise<void> {
  for (let presses = 0; presses < 60 && (await page.focused(tab)) !== testId; presses += 1) await tab.keyboard.press('Tab');
  expect(await page.focused(tab)).toBe(testId);
}

test('a fan offers a ticket to an address, with the keyboard alone; a wrong receiver is marked and nothing is sent', async () => {
  const { tab } = giver;
  await tab.goto(`${system.publicUrl}/tickets`);
  await isIn(tab, 'give-ticket');
  await tabTo(tab, 'give-ticket');
  await tab.keyboard.press('Enter');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tabTo(tab, 'offer-submit');
  await tab.keyboard.press('Enter');
  expect(await page.focused(tab)).toBe('offer-to');
  expect(await tab.getByTestId('offer-to').getAttribute('aria-invalid')).toBe('true');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.keyboard.type(FRIEND);
  await tab.keyboard.press('Tab');
  await tab.keyboard.type('Barbara Barić');
  await tab.keyboard.press('Enter');
  await isIn(tab, 'open-offer');
  expect(await tab.getByTestId('open-offer').innerText()).toContain(FRIEND);
  expect(await page.focused(tab)).toBe('open-offer');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await page.takeScreenshot(tab, 'journey-30-offered');
  // The ticket is still the giver's.
  expect((await page.readTickets(tab, 2)).map(({ status }) => status)).toEqual(['valid', 'valid']);
});

test('the giver withdraws the offer and makes it again', async () => {
  const { tab } = giver;
  await tab.getByTestId('withdraw-offer').click();
  await tab.getByTestId('withdraw-offer-yes').click();
  await tab.getByTestId('open-offer').waitFor({ state: 'detached' });
  expect(await page.focused(tab)).toBe('give-ticket');
  await tab.getByTestId('give-ticket').first().click();
  await tab.getByTestId('offer-to').fill('0190a000-0000-7000-8000-00000000ffff');
  await tab.getByTestId('offer-submit').click();
  expect(await tab.getByTestId('problem').innerText()).toContain('no fan with this user id');
  await tab.getByTestId('offer-to').fill(FRIEND);
  await tab.getByTestId('offer-holder').fill('Barbara Barić');
  await tab.getByTestId('offer-submit').click();
  await isIn(tab, 'open-offer');
});

test('the friend reads the mail, opens its link on a phone, in Croatian, and accepts: the ticket has a QR code and the new name', async () => {
  const [mail = ''] = await mailsTo(FRIEND, 'transfer_offer', 2);
  const link = /http\S+/.exec(mail)?.[0] ?? '';
  expect(link).toBe(`${system.publicUrl}/transfers`);
  const { tab, browserErrors, close } = await openBrowser('phone', 'hr-HR');
  await tab.goto(link);
  await tab.getByTestId('save-address').click();
  expect(await page.focused(tab)).toBe('own-address');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.getByTestId('own-address').fill(FRIEND);
  await tab.getByTestId('save-address').click();
  await isIn(tab, 'offer');
  expect(await tab.getByTestId('accept-name').inputValue()).toBe('Barbara Barić');
  expect([await accessibilityFaults(tab), await widthOf(tab)]).toEqual([[], 390]);
  await page.takeScreenshot(tab, 'journey-31-offer-phone');
  await tab.getByTestId('accept-name').fill('Barbara Horvat');
  await tab.getByTestId('accept-offer').click();
  const [ticket, ...others] = await page.readTickets(tab, 1);
  expect([ticket?.status, ticket?.holder, others]).toEqual(['valid', 'Barbara Horvat', []]);
  expect(ticket?.qrWidth).toBeGreaterThan(20);
  expect(browserErrors).toEqual([]);
  await close();
});

test('the giver is told by mail, and sees the ticket as passed on', async () => {
  const [mail] = await mailsTo('giver@example.com', 'transfer_answer');
  // The giver has no profile, so the mail is in Croatian.
  expect(mail).toContain('prihvatila ju je');
  const { tab } = giver;
  await tab.goto(`${system.publicUrl}/tickets`);
  await tab.locator('[data-testid=ticket][data-status=transferred]').waitFor();
  await tab.getByTestId('transfers-link').click();
  await tab.locator('[data-testid=offer-row][data-status=accepted]').waitFor();
  expect(await tab.getByTestId('offer-row').count()).toBe(2);
  expect(await accessibilityFaults(tab)).toEqual([]);
});

test('a fan declines an offered ticket', async () => {
  const friend = await openBrowser('desktop', 'en-GB');
  await friend.tab.goto(`${system.publicUrl}/transfers`);
  await friend.tab.getByTestId('own-address').fill('second@example.com');
  await friend.tab.getByTestId('save-address').click();
  const { tab } = giver;
  await tab.goto(`${system.publicUrl}/tickets`);
  await tab.getByTestId('give-ticket').click();
  await tab.getByTestId('offer-to').fill(await page.fanId(friend.tab));
  await tab.getByTestId('offer-submit').click();
  await isIn(tab, 'open-offer');
  await friend.tab.goto(`${system.publicUrl}/tickets`);
  expect(await friend.tab.getByTestId('transfers-link').innerText()).toContain('1');
  await friend.tab.getByTestId('transfers-link').click();
  await friend.tab.getByTestId('decline-offer').click();
  await friend.tab.getByTestId('decline-offer-yes').click();
  await friend.tab.getByTestId('offer').waitFor({ state: 'detached' });
  await friend.tab.locator('[data-testid=offer-row][data-status=declined]').waitFor();
  expect(await accessibilityFaults(friend.tab)).toEqual([]);
  expect(friend.browserErrors).toEqual([]);
  await friend.close();
});

test('a fan changes the profile, saves the file with everything, and erases the account; with a valid ticket it is refused', async () => {
  const { tab, browserErrors, close } = await openBrowser('phone', 'hr-HR');
  await tab.goto(`${system.publicUrl}/account`);
  await tab.getByTestId('account-name').fill('Cvita Privremena');
  await tab.getByTestId('account-email').fill('cvita@example.com');
  await tab.getByTestId('account-save').click();
  await tab.getByText('Spremljeno.').waitFor();
  expect([await accessibilityFaults(tab), await widthOf(tab)]).toEqual([[], 390]);
  await page.takeScreenshot(tab, 'journey-32-account-phone');
  const [download] = await Promise.all([tab.waitForEvent('download'), tab.getByTestId('account-export').click()]);
  expect(download.suggestedFilename()).toBe('tribina-export.json');
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject({ profile: { name: 'Cvita Privremena' } });
  await tab.getByTestId('account-erase').click();
  await tab.getByText('Upišite riječ').waitFor();
  await tab.getByTestId('account-erase-word').fill('izbriši');
  await tab.getByTestId('account-erase').click();
  await isIn(tab, 'account-erased');
  expect(await tab.getByTestId('account-name').inputValue()).toBe('');
  expect(browserErrors).toEqual([]);
  await close();

  // A page of its own: the browser counts a refusal as an error.
  const refused = await giver.tab.context().newPage();
  await refused.goto(`${system.publicUrl}/account`);
  await refused.getByTestId('account-erase-word').fill('erase');
  await refused.getByTestId('account-erase').click();
  await refused.getByText('Not yet: you have a valid ticket').waitFor();
  await refused.close();
});

test('an operator locks the transfers: the ticket says so, and it can be offered again when they are allowed', async () => {
  const operator = await openBrowser('desktop', 'en-GB');
  await page.openOps(operator.tab, system.publicUrl, matchId);
  const is = (state: string) =>
    operator.tab.locator(`[data-testid=ops-transfers][data-transfers=${state}]`).waitFor({ timeout: 15_000 });
  await is('allowed');
  await operator.tab.getByTestId('ops-transfers-switch').press('Enter');
  await is('locked');
  expect(await accessibilityFaults(operator.tab)).toEqual([]);
  const { tab, browserErrors } = giver;
  await tab.goto(`${system.publicUrl}/tickets`);
  await isIn(tab, 'ticket-qr');
  expect(await tab.getByTestId('give-ticket').count()).toBe(0);
  expect(await tab.getByRole('main').innerText()).toContain('does not allow tickets of this match to be passed on');
  await operator.tab.getByTestId('ops-transfers-switch').press('Enter');
  await is('allowed');
  await tab.reload();
  await isIn(tab, 'give-ticket');
  expect([browserErrors, operator.browserErrors]).toEqual([[], []]);
  await operator.close();
});
