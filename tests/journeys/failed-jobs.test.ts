import { jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { FakeSmtpServer } from '../../apps/notification-worker/src/testing/fake-smtp-server.ts';
import { accessibilityFaults } from './accessibility.ts';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { Fan, pollUntil } from './fan.ts';
import { collectBrowserErrors, focused, takeScreenshot } from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// The mail server refuses the mails of three orders. An operator finds them on the page of jobs and deals with them by keyboard.
jest.setTimeout(120_000);

const MAILS = 6;
/** The demo data invites guests of sponsors. */
const INVITATION_MAILS = 3;
let mailServer: FakeSmtpServer;
let system: StartedSystem;
let launched: LaunchedBrowser | undefined;
const buyers = ['ana@example.com', 'ivo@example.com', 'zora@example.com'];

beforeAll(async () => {
  mailServer = await FakeSmtpServer.start();
  system = await startSystem({ RATE_LIMIT_IP_PER_MINUTE: '0', EMAIL_PROVIDER: 'smtp', SMTP_URL: mailServer.url });
  await pollUntil(
    async () => mailServer.arrived.length,
    (count) => count === INVITATION_MAILS,
    20_000,
  );
  mailServer.arrived.length = 0;
  for (let refused = 0; refused < MAILS; refused += 1) mailServer.next.push({ at: 'RCPT', reply: '550 mailbox full' });
  launched = await launchBrowser();
  for (const email of buyers) await buyOneTicket(email);
  const ops = new Fan(system, 'ops');
  const failed = () => ops.call<{ items: unknown[] }>('GET', '/ops/jobs?state=failed&queue=email');
  const { body } = await pollUntil(failed, (answer) => answer.body.items.length === MAILS, 20_000);
  expect(body.items).toHaveLength(MAILS);
});

afterAll(async () => {
  await launched?.close();
  await system?.stop();
  await mailServer?.close();
});

/** Buys a ticket of the match without a queue. Its two mails go to the mail server. */
async function buyOneTicket(email: string): Promise<void> {
  const fan = new Fan(system);
  type List = { items: { id: string; queue_required: boolean }[] };
  const match = (await fan.call<List>('GET', '/matches')).body.items.find(({ queue_required }) => !queue_required)?.id;
  const sector = (await fan.call<List>('GET', `/matches/${match}/sectors`)).body.items[0]?.id;
  const hold = { sector_id: sector, quantity: 1 };
  const held = await fan.call<{ id: string; seats: { seat_id: string }[] }>('POST', `/matches/${match}/reservations`, hold);
  const holders = held.body.seats.map(({ seat_id }) => ({ seat_id, name: 'Ana Horvat' }));
  const order = await fan.call<{ payment: { confirm_url: string } }>('POST', `/reservations/${held.body.id}/checkout`, {
    holders,
    email,
  });
  await fan.call('POST', order.body.payment.confirm_url, { outcome: 'succeeded' });
}

const jobs = (tab: Page) => tab.getByTestId('job');
const happened = (tab: Page) => tab.getByTestId('job-happened');
/** Waits until the list has this number of jobs. */
async function waitForJobs(tab: Page, count: number): Promise<void> {
  await jobs(tab).nth(count).waitFor({ state: 'detached' });
  if (count > 0)
    await jobs(tab)
      .nth(count - 1)
      .waitFor();
}
const countOf = async (tab: Page, cell: string): Promise<string> => tab.getByTestId(`job-count-${cell}`).innerText();

async function openPage(options: { width: number; height: number; locale: string }) {
  const { width, height, locale } = options;
  const context = await launched!.browser.newContext({ viewport: { width, height }, locale });
  const tab = await context.newPage();
  return { context, tab, browserErrors: collectBrowserErrors(tab) };
}

test('the page explains itself while it loads and when the service does not answer', async () => {
  const { context, tab } = await openPage({ width: 1280, height: 800, locale: 'en-GB' });
  await tab.route(/\/ops\/jobs\?/, (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      json: { code: 'DEPENDENCY_UNAVAILABLE', status: 503 },
    }),
  );
  await tab.goto(`${system.publicUrl}/ops/jobs`);
  await tab.getByTestId('problem').waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await tab.unroute(/\/ops\/jobs\?/);
  await tab.getByRole('button', { name: 'Try again' }).click();
  await waitForJobs(tab, MAILS);
  await context.close();
});

test('on a phone the page fits the screen, in Croatian, and breaks no rule of accessibility', async () => {
  const { context, tab, browserErrors } = await openPage({ width: 390, height: 844, locale: 'hr-HR' });
  await tab.goto(`${system.publicUrl}/ops/jobs`);
  await waitForJobs(tab, MAILS);
  expect(await happened(tab).innerText()).toBe('Pronađeno: 6 poslova.');
  // The name of a queue stays in sight when the operator scrolls to the last column of the counts.
  const scrolledCounts = `(() => {
    const frame = document.querySelector('.job-counts');
    frame.scrollLeft = 1000;
    const left = frame.querySelector('tbody th').getBoundingClientRect().left - frame.getBoundingClientRect().left;
    return { scrolled: frame.scrollLeft > 0, left };
  })()`;
  expect(await tab.evaluate(scrolledCounts)).toEqual({ scrolled: true, left: 0 });
  await jobs(tab).first().getByRole('button').first().click();
  await tab.getByTestId('job-payload').waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await takeScreenshot(tab, 'journey-14-jobs-phone');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('an operator filters the failed mails, retries one, drops one and retries the rest, all by keyboard', async () => {
  const { context, tab, browserErrors } = await openPage({ width: 1280, height: 800, locale: 'en-GB' });
  await tab.goto(`${system.publicUrl}/ops`);
  await tab.getByTestId('ops-jobs-link').click();
  await waitForJobs(tab, MAILS);
  expect([await countOf(tab, 'email-failed'), await happened(tab).innerText()]).toEqual([
    expect.stringContaining('6') as string,
    '6 jobs found.',
  ]);

  await tab.getByTestId('job-queue').selectOption('push');
  await tab.getByTestId('job-none').waitFor();
  await tab.getByTestId('job-count-email-failed').getByRole('button').press('Enter');
  await waitForJobs(tab, MAILS);
  expect(await tab.getByTestId('job-queue').inputValue()).toBe('email');
  await tab.getByTestId('job-template').fill('ticket_delivery');
  await waitForJobs(tab, 3);
  await tab.getByTestId('job-template').fill('');
  await tab.getByTestId('job-search').fill('ivo@example.com');
  await waitForJobs(tab, 2);

  const first = jobs(tab).first().getByRole('button').first();
  await first.press('Enter');
  expect(await tab.getByTestId('job-attempts').innerText()).toContain('550');
  const payload = await tab.getByTestId('job-payload').innerText();
  expect([payload.includes('iv•••@example.com'), payload.includes('TRB'), payload.includes('Horvat')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-13-jobs');
  await first.focus();
  await tab.keyboard.press('Tab');
  expect(await focused(tab)).toBe('job-retry');
  await tab.keyboard.press('Enter');
  await happened(tab).filter({ hasText: 'will be tried again.' }).waitFor();
  await waitForJobs(tab, 1);
  expect(await focused(tab)).toBe('found-jobs');
  expect(
    await pollUntil(
      async () => mailServer.arrived.map(({ to }) => to),
      (to) => to.length > 0,
    ),
  ).toEqual(['ivo@example.com']);

  await jobs(tab).first().getByRole('button').first().press('Enter');
  await tab.getByTestId('job-drop').press('Enter');
  expect(await focused(tab)).toBe('job-drop-yes');
  await tab.keyboard.press('Tab');
  await tab.keyboard.press('Enter');
  expect([await focused(tab), await jobs(tab).count()]).toEqual(['job-drop', 1]);
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('Enter');
  await happened(tab).filter({ hasText: 'was dropped.' }).waitFor();
  await waitForJobs(tab, 0);

  await tab.getByTestId('job-search').fill('');
  await waitForJobs(tab, 4);
  await tab.getByTestId('job-retry-all').press('Enter');
  const question = tab.getByTestId('job-retry-all-question');
  expect(await question.innerText()).toContain('Retry 4 failed jobs?');
  expect(await accessibilityFaults(tab)).toEqual([]);
  expect(mailServer.arrived).toHaveLength(1);
  await tab.keyboard.press('Enter');
  await happened(tab).filter({ hasText: '4 jobs will be tried again.' }).waitFor();
  const arrived = await pollUntil(
    async () => mailServer.arrived.map(({ to }) => to).sort(),
    (to) => to.length === 5,
  );
  expect(arrived).toEqual(['ana@example.com', 'ana@example.com', 'ivo@example.com', 'zora@example.com', 'zora@example.com']);
  await waitForJobs(tab, 0);
  await tab.getByTestId('job-count-email-failed').filter({ hasText: /^0$/ }).waitFor();
  await tab.getByTestId('job-queue').selectOption('');
  expect(await tab.getByTestId('job-none').filter({ hasText: 'No job has failed.' }).innerText()).toBe('No job has failed.');
  await tab.getByTestId('job-state').selectOption('completed');
  await jobs(tab).nth(4).waitFor();
  expect(browserErrors).toEqual([]);

  // A tab that nobody sees asks nothing; the tab asks again when it is seen.
  const requests: string[] = [];
  tab.on('request', (request) => requests.push(request.url()));
  const setVisibility = (state: string) =>
    tab.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' })`);
  await setVisibility('hidden');
  requests.length = 0;
  await tab.waitForTimeout(6_000);
  expect(requests).toEqual([]);
  await setVisibility('visible');
  await tab.waitForRequest(/\/ops\/jobs\/counts/, { timeout: 8_000 });
  await context.close();
});
