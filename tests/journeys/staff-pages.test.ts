import { jest } from '@jest/globals';
import type { Page, Response } from 'playwright-core';
import { accessibilityFaults } from './accessibility.ts';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { collectBrowserErrors, focused, openMatches, takeScreenshot } from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// The pages of operators and partners are files of their own, which fans do not load. If they do not arrive, the page says so.
jest.setTimeout(120_000);

const SCRIPT = /\/assets\/staff-pages-[\w-]+\.js$/;
const STYLE = /\/assets\/staff-pages-[\w-]+\.css$/;

let system: StartedSystem;
let launched: LaunchedBrowser | undefined;

beforeAll(async () => {
  system = await startSystem({ RATE_LIMIT_IP_PER_MINUTE: '0' });
  launched = await launchBrowser();
});

afterAll(async () => {
  await launched?.close();
  await system?.stop();
});

/** Opens an empty browser and collects the answers to its requests for scripts and styles. */
async function openBrowser({ width = 1280, locale = 'en-GB' } = {}) {
  const context = await launched!.browser.newContext({ viewport: { width, height: 844 }, locale });
  const tab = await context.newPage();
  const files: Response[] = [];
  tab.on('response', (response) => {
    if (response.url().includes('/assets/')) files.push(response);
  });
  return { tab, files, browserErrors: collectBrowserErrors(tab), close: () => context.close() };
}

const linkTo = (tab: Page, path: string) => tab.getByRole('contentinfo').locator(`a[href="${path}"]`);
const titleOf = (tab: Page) => tab.getByRole('heading', { level: 1 }).innerText();
const notLoaded = (tab: Page) => tab.getByTestId('page-not-loaded').getByRole('heading');
const isTitleFocused = (tab: Page) => tab.evaluate(`document.activeElement === document.querySelector('h1')`);
/** Asks the service for a file that it does not have, as an old page does after another version was deployed. */
const forget = (tab: Page, files: RegExp) =>
  tab.route(files, (route) => route.continue({ url: `${system.publicUrl}/assets/gone.js` }));

test('a fan loads one script and one style, and nothing of the pages of operators and partners', async () => {
  const { tab, files, close } = await openBrowser();
  await openMatches(tab, system.publicUrl);
  await tab.getByTestId('open-match').first().click();
  await tab.getByRole('link', { name: 'My tickets' }).click();
  await tab.getByRole('heading', { level: 1, name: 'My tickets' }).waitFor();
  await tab.goto(`${system.publicUrl}/invitation`);
  await tab.getByTestId('invitation-wrong').waitFor();
  expect(files.map((file) => /([\w-]+?)-[\w-]{8}(\.\w+)$/.exec(file.url())?.slice(1).join('')).sort()).toEqual([
    ...['index.css', 'index.css', 'index.js', 'index.js'],
  ]);
  await close();
});

test('a partner opens the own page by keyboard: it says that it loads, its files are compressed and cached for good, and its title gets the focus', async () => {
  const { tab, files, browserErrors, close } = await openBrowser();
  await openMatches(tab, system.publicUrl);
  let isSent = (): void => undefined;
  const sent = new Promise<void>((resolve) => (isSent = resolve));
  await tab.route(SCRIPT, (route) => sent.then(() => route.continue()));
  await linkTo(tab, '/quotas').press('Enter');
  await tab.getByRole('status').filter({ hasText: 'Loading…' }).waitFor();
  isSent();
  await tab.getByRole('heading', { level: 1, name: 'Your quotas' }).waitFor();
  expect(await isTitleFocused(tab)).toBe(true);
  const own = files.filter((file) => SCRIPT.test(file.url()) || STYLE.test(file.url()));
  expect(own).toHaveLength(2);
  for (const file of own)
    expect(await file.allHeaders()).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': expect.stringMatching(/^(br|gzip)$/) as string,
    });

  await linkTo(tab, '/ops').press('Enter');
  await tab.getByTestId('ops-match').first().waitFor();
  expect(await isTitleFocused(tab)).toBe(true);
  expect(files.filter((file) => SCRIPT.test(file.url()))).toHaveLength(1);
  expect(browserErrors).toEqual([]);
  await close();
});

test('without a connection the page says so and tries again when it is asked to', async () => {
  const { tab, close } = await openBrowser();
  await openMatches(tab, system.publicUrl);
  await tab.route(/\/assets\/|\/config\.json$/, (route) => route.abort('internetdisconnected'));
  await linkTo(tab, '/ops').press('Enter');
  await notLoaded(tab).waitFor({ timeout: 15_000 });
  expect([await titleOf(tab), await isTitleFocused(tab)]).toEqual(['This page did not load', true]);
  const problem = tab.getByRole('alert').filter({ hasText: 'No connection.' });
  await problem.waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.getByRole('button', { name: 'Try again' }).press('Enter');
  await problem.waitFor({ state: 'detached' });
  await problem.waitFor({ timeout: 15_000 });
  expect(await focused(tab)).toBe('reload-page');
  await tab.unroute(/\/assets\/|\/config\.json$/);
  await tab.keyboard.press('Enter');
  await tab.getByTestId('ops-match').first().waitFor();
  await close();
});

test.each([
  ['script', SCRIPT],
  ['style', STYLE],
])('a page whose %s another version has replaced offers to reload it', async (_, file) => {
  const { tab, close } = await openBrowser({ width: 390, locale: 'hr-HR' });
  await forget(tab, file);
  await tab.goto(`${system.publicUrl}/ops/jobs`);
  await notLoaded(tab).waitFor();
  await tab.getByRole('status').filter({ hasText: 'Tribina je vjerojatno ažurirana' }).waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await takeScreenshot(tab, 'journey-22-page-not-loaded');
  await tab.unroute(file);
  await tab.getByRole('button', { name: 'Ponovno učitaj stranicu' }).press('Enter');
  await tab.getByTestId('job-queue').waitFor();
  expect(await tab.evaluate(`getComputedStyle(document.querySelector('.job-filter')).display`)).toBe('grid');
  await close();
});
