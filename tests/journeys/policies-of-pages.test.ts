import { jest } from '@jest/globals';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { collectBrowserErrors, openMatches } from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// The pages work in Chromium under their Content-Security-Policy, and foreign sites cannot frame them.
jest.setTimeout(180_000);

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

async function openTab() {
  const context = await launched!.browser.newContext();
  const tab = await context.newPage();
  return { tab, browserErrors: collectBrowserErrors(tab), close: () => context.close() };
}

test.each(['publicUrl', 'queueUrl', 'workerUrl'] as const)(
  'the API documents at %s show the operations, and one can be tried',
  async (service) => {
    const { tab, browserErrors, close } = await openTab();
    await tab.goto(`${system[service]}/docs`);
    const read = tab.locator('.opblock-get').first();
    await read.waitFor();
    await read.locator('.opblock-summary-control').click();
    await read.getByRole('button', { name: 'Try it out' }).click();
    for (const field of await read.locator('tr:has(.required) input').all())
      await field.fill('0190a000-0000-7000-8000-0000000000f1');
    await read.getByRole('button', { name: 'Execute' }).click();
    await read.locator('.live-responses-table .response-col_status').first().waitFor();
    expect(browserErrors.filter((error) => /Content.Security.Policy|Permissions|Refused/i.test(error))).toEqual([]);
    await close();
  },
);

test('the start page, the mailbox and a page that does not exist break no rule of their policies', async () => {
  const { tab, browserErrors, close } = await openTab();
  await openMatches(tab, system.publicUrl);
  await tab.goto(`${system.workerUrl}/mailbox/`);
  await tab.getByRole('heading', { name: 'Mailbox' }).waitFor();
  await tab.getByRole('button', { name: 'Show' }).click();
  await tab.getByRole('heading', { name: 'Mailbox' }).waitFor();
  await tab.goto(`${system.publicUrl}/nowhere`);
  await tab.getByRole('heading', { level: 1 }).waitFor();
  expect(browserErrors.filter((error) => !error.includes('404'))).toEqual([]);
  await close();
});

test('another site cannot show a page in a frame', async () => {
  const { tab, close } = await openTab();
  // The mailbox has another port than the frames below, so it is another origin. Its own policy would forbid frames.
  await tab.route('**/frames', (route) => {
    const frames = [`${system.publicUrl}/`, `${system.publicUrl}/docs`, `${system.workerUrl}/mailbox/`];
    const body = frames.map((url) => `<iframe src="${url}"></iframe>`).join('');
    return route.fulfill({ contentType: 'text/html', body });
  });
  await tab.goto(`${system.queueUrl}/frames`);
  await tab.waitForLoadState('networkidle');
  const texts = await Promise.all(
    tab
      .frames()
      .slice(1)
      .map((frame) =>
        frame
          .locator('body')
          .innerText()
          .catch(() => ''),
      ),
  );
  expect(texts.filter((text) => /Tribina|Mailbox/.test(text))).toEqual([]);
  expect(tab.frames()).toHaveLength(4);
  await close();
});
