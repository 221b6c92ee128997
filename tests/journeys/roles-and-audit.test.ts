import { jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from './accessibility.ts';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import { Fan } from './fan.ts';
import { collectBrowserErrors, focused, takeScreenshot } from './page-objects.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// An operator who only reads sees what is missing and why. Another one pauses a sale and finds it in the audit log, all by keyboard.
jest.setTimeout(120_000);

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

async function openPage(options: { width: number; height: number; locale: string }) {
  const { width, height, locale } = options;
  const context = await launched!.browser.newContext({ viewport: { width, height }, locale });
  const tab = await context.newPage();
  return { context, tab, browserErrors: collectBrowserErrors(tab) };
}

/** Chooses roles by keyboard; the page loads again. */
async function chooseRoles(tab: Page, toggled: readonly string[]): Promise<void> {
  await tab.getByTestId('role-choice').press('Enter');
  for (const role of toggled) await tab.getByTestId(`role-${role}`).press('Space');
  await Promise.all([tab.waitForEvent('load'), tab.getByTestId('role-use').press('Enter')]);
  await tab.getByTestId('ops-match').first().waitFor();
}

test('with the role ops:read the page has no buttons that change something, and names the missing roles', async () => {
  const { context, tab, browserErrors } = await openPage({ width: 1280, height: 800, locale: 'en-GB' });
  await tab.goto(`${system.publicUrl}/ops`);
  await tab.getByTestId('ops-audit-link').waitFor();
  await chooseRoles(tab, ['ops', 'ops:read']);
  for (const work of ['sale', 'money', 'lists', 'audit']) await tab.getByTestId(`role-needed-${work}`).first().waitFor();
  for (const button of ['ops-pause', 'ops-close', 'ops-cancel', 'ops-list', 'ops-audit-link'])
    expect([button, await tab.getByTestId(button).count()]).toEqual([button, 0]);
  expect(await tab.getByTestId('role-needed-sale').first().innerText()).toContain('ops:sale, ops. You have: ops:read.');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-20-roles');
  await tab.goto(`${system.publicUrl}/ops/audit`);
  await tab.getByTestId('role-needed-audit').waitFor();
  expect(await tab.getByTestId('audit-find').count()).toBe(0);
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('an operator pauses a sale and finds the act with the old and the new value, by keyboard', async () => {
  const { context, tab, browserErrors } = await openPage({ width: 1280, height: 800, locale: 'en-GB' });
  const ops = new Fan(system, 'ops:sale');
  const { body } = await ops.call<{ items: { id: string; sale: { status: string } }[] }>('GET', '/ops/matches');
  const match = body.items.find(({ sale }) => sale.status === 'open');
  await ops.call('POST', `/ops/matches/${match?.id}/sale`, { action: 'pause', reason: 'secret reason' });

  await tab.goto(`${system.publicUrl}/ops`);
  await tab.getByTestId('ops-audit-link').press('Enter');
  await tab.getByTestId('audit-entry').first().waitFor();
  await tab.getByTestId('audit-action').focus();
  await tab.getByTestId('audit-action').selectOption('changeSale');
  await tab.getByTestId('audit-match').selectOption(match?.id ?? '');
  await tab.getByTestId('audit-actor').fill('nobody');
  await tab.keyboard.press('Enter');
  expect(await tab.getByTestId('audit-actor').getAttribute('aria-invalid')).toBe('true');
  await tab.getByTestId('audit-actor').fill('');
  await tab.keyboard.press('Enter');
  await tab.getByTestId('audit-found').filter({ hasText: 'Entries found: 1.' }).waitFor();
  const values = await tab.getByTestId('audit-values').innerText();
  expect(values).toMatch(/sale_status\s+open\s+paused/);
  expect([values.includes('[not recorded]'), values.includes('secret reason')]).toEqual([true, false]);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-21-audit');
  await tab.getByTestId('audit-until').focus();
  for (let step = 0; step < 10 && (await focused(tab)) !== 'audit-find'; step += 1) await tab.keyboard.press('Tab');
  expect(await focused(tab)).toBe('audit-find');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('on a phone the audit log fits the screen, in Croatian, and breaks no rule of accessibility', async () => {
  const { context, tab, browserErrors } = await openPage({ width: 390, height: 844, locale: 'hr-HR' });
  await tab.goto(`${system.publicUrl}/ops/audit`);
  await tab.getByTestId('audit-values').first().waitFor();
  expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-22-audit-phone');
  expect(browserErrors).toEqual([]);
  await context.close();
});

test('an operator adds a webhook by keyboard, sees its secret once and what could not be delivered, and removes it', async () => {
  const { context, tab, browserErrors } = await openPage({ width: 1280, height: 800, locale: 'en-GB' });
  await tab.goto(`${system.publicUrl}/ops`);
  await tab.getByTestId('ops-webhooks-link').press('Enter');
  await tab.getByTestId('webhook-add').press('Enter');
  expect(await tab.getByTestId('webhook-url').getAttribute('aria-invalid')).toBe('true');
  await tab.getByTestId('webhook-url').fill('https://127.0.0.1/events');
  await tab.getByTestId('webhook-event-match.cancelled').press('Space');
  await tab.keyboard.press('Enter');
  await tab.getByRole('alert').first().waitFor();
  await tab.getByTestId('webhook-url').fill('https://partner.invalid/events');
  await tab.keyboard.press('Enter');
  const secret = await tab.getByTestId('webhook-secret').locator('code').innerText();
  expect(secret).toMatch(/^whsec_/);

  const ops = new Fan(system, 'ops');
  const { body } = await ops.call<{ items: { id: string; queue_required: boolean }[] }>('GET', '/ops/matches');
  const match = body.items.find(({ queue_required }) => !queue_required) ?? body.items[0];
  // Each process reads once a second which events are wanted.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await ops.call('POST', `/ops/matches/${match?.id}/cancel`, { reason: 'Storm' });
  await tab.getByTestId('webhook-deliveries').press('Enter');
  const delivery = tab.getByTestId('webhook-delivery');
  await delivery.filter({ hasText: 'no connection' }).waitFor();
  await tab.getByTestId('webhook-retry').press('Enter');
  // It is also sent again by itself, after five seconds.
  await delivery.filter({ hasText: /attempts: [23]/ }).waitFor();
  expect(await accessibilityFaults(tab)).toEqual([]);
  await takeScreenshot(tab, 'journey-23-webhooks');
  await tab.setViewportSize({ width: 390, height: 844 });
  expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await takeScreenshot(tab, 'journey-24-webhooks-phone');
  await tab.getByTestId('webhook-remove').press('Enter');
  await tab.getByTestId('webhook-remove-yes').press('Enter');
  await tab.getByTestId('webhook').waitFor({ state: 'detached' });
  expect(browserErrors.filter((error) => !error.includes('400'))).toEqual([]);
  await context.close();
});
