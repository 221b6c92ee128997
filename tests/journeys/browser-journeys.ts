import type { Browser, Page, Route } from 'playwright-core';
import { Fan, until } from './fan.ts';
import * as page from './page-objects.ts';
import type { StartedSystem } from './started-system.ts';

/** What a fan and an operator go through on the page, each in a browser context of its own. */

export interface Visit {
  readonly browser: Browser;
  readonly system: StartedSystem;
  readonly matches: { readonly withQueue: string; readonly direct: string };
}

interface Sector {
  id: string;
  price_cents: number;
  available: number;
}
interface Reservation {
  seats: { seat_id: string; sector: string; price_cents: number }[];
  total_cents: number;
}

/** What the API says of the seats that this page holds. */
async function pricesOfTheApi(
  tab: Page,
  { system, matchId, held }: { system: StartedSystem; matchId: string; held: page.HeldSeats },
): Promise<{ sector: Sector; reservation: Reservation }> {
  const asFan = { 'x-mock-user-id': await page.fanId(tab) };
  const api = new Fan(system);
  const reservation = await api.call<Reservation>('GET', `/reservations/${held.reservationId}`, undefined, asFan);
  const sectors = await api.call<{ items: Sector[] }>('GET', `/matches/${matchId}/sectors`);
  const sector = sectors.body.items.find(({ id }) => id === held.sectorId);
  if (!sector) throw new Error(`no sector ${held.sectorId}`);
  return { sector, reservation: reservation.body };
}

export async function buyOnThePage({ browser, system, matches }: Visit): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'hr-HR' });
  const tab = await context.newPage();
  const complaints = page.collectComplaints(tab);
  expect((await page.openMatches(tab, system.publicUrl)).join(' ')).toContain('Italija');
  await page.takeScreenshot(tab, 'journey-1-matches');
  await page.openMatch(tab, matches.withQueue);
  await page.takeScreenshot(tab, 'journey-2-match');
  await page.joinQueue(tab);
  await page.waitForTurn(tab);
  await page.takeScreenshot(tab, 'journey-3-turn');
  const held = await page.holdBestSeats(tab, { sector: 1, quantity: 2 });
  const { sector, reservation } = await pricesOfTheApi(tab, { system, matchId: matches.withQueue, held });
  expect(reservation.total_cents).toBe(2 * sector.price_cents);
  expect(held.prices).toEqual([...reservation.seats.map(({ price_cents }) => price_cents), reservation.total_cents]);
  expect(held.sectorPrice).toBe(sector.price_cents);
  await page.takeScreenshot(tab, 'journey-4-held');
  await page.checkOut(tab, { names: ['Ana Horvat', 'Ivo Horvat'], email: 'page@example.com' });
  expect(await page.readAmount(tab)).toBe(reservation.total_cents);
  await page.takeScreenshot(tab, 'journey-5-payment');
  await page.pay(tab);
  const tickets = await page.readTickets(tab, 2);
  expect(tickets.map(({ holder, status }) => [holder, status])).toEqual([
    ['Ana Horvat', 'valid'],
    ['Ivo Horvat', 'valid'],
  ]);
  for (const { qrWidth } of tickets) expect(qrWidth).toBeGreaterThan(20);
  await page.takeScreenshot(tab, 'journey-6-tickets');
  expect(complaints).toEqual([]);
  await context.close();
}

/** A large screen, English, no queue: two seats from the map, and a payment that fails once. */
export async function chooseOnThePage({ browser, system, matches }: Visit): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const complaints = page.collectComplaints(tab);
  await page.openMatches(tab, system.publicUrl);
  await page.openMatch(tab, matches.direct);
  const held = await page.holdChosenSeats(tab, { sector: 3, quantity: 2 });
  expect(held.seats).toHaveLength(2);
  await page.takeScreenshot(tab, 'journey-8-chosen');
  await page.checkOut(tab, { names: ['Ana Horvat', 'Ivo Horvat'], email: 'map@example.com' });
  await tab.reload();
  await page.decline(tab);
  await page.pay(tab);
  expect(await page.readTickets(tab, 2)).toHaveLength(2);
  expect(complaints).toEqual([]);
  await context.close();
}

/** The answer to the first hold and the first request of the checkout never arrive. The page sends both again by itself. */
export async function loseTheNetworkOnThePage({ browser, system, matches }: Visit): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const complaints = page.collectComplaints(tab);
  const sent: { url: string; key: string | undefined }[] = [];
  const loseFirst = (isAnswerLost: boolean) => async (route: Route) => {
    const request = route.request();
    const isFirst = !sent.some(({ url }) => url === request.url());
    sent.push({ url: request.url(), key: request.headers()['idempotency-key'] });
    if (!isFirst) return route.continue();
    if (isAnswerLost) await route.fetch();
    return route.abort('connectionreset');
  };
  await tab.route(/\/reservations$/, loseFirst(true));
  await tab.route(/\/checkout$/, (route) => (route.request().method() === 'POST' ? loseFirst(false)(route) : route.continue()));

  const api = new Fan(system);
  const free = async () => {
    const { body } = await api.call<{ items: Sector[] }>('GET', `/matches/${matches.direct}/sectors`);
    return body.items[6]?.available ?? 0;
  };
  const before = await free();
  await page.openMatches(tab, system.publicUrl);
  await page.openMatch(tab, matches.direct);
  const held = await page.holdBestSeats(tab, { sector: 6, quantity: 2 });
  await page.checkOut(tab, { names: ['Ana Horvat', 'Ivo Horvat'], email: 'lost@example.com' });
  await page.pay(tab);

  const [hold, holdAgain, checkout, checkoutAgain, ...more] = sent;
  expect(more).toEqual([]);
  expect(hold?.key).toMatch(/^[0-9a-f]{32}$/);
  expect([holdAgain, checkoutAgain]).toEqual([hold, checkout]);
  expect(checkout?.url).toContain(held.reservationId);
  expect(await until(free, (now) => now === before - 2)).toBe(before - 2);
  const orders = await new Fan(system, 'ops').call<{ items: unknown[] }>(
    'GET',
    `/ops/orders?match_id=${matches.direct}&q=lost@example.com`,
  );
  expect(orders.body.items).toHaveLength(1);
  expect(complaints).toEqual([expect.stringContaining('ERR_CONNECTION_RESET'), expect.stringContaining('ERR_CONNECTION_RESET')]);
  await context.close();
}

/** Who looks at a sector again is sent what changed, and sees it. */
export async function checkAgainOnThePage({ browser, system, matches }: Visit): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const complaints = page.collectComplaints(tab);
  await page.openMatches(tab, system.publicUrl);
  await page.openMatch(tab, matches.direct);
  const first = await page.seatsAnswer(tab, 4);
  const { sectorId } = await page.openSector(tab, 4);
  const other = new Fan(system);
  const seats = `/matches/${matches.direct}/sectors/${sectorId}/seats`;
  const { body } = await other.call<{ items: { id: string; status: string }[] }>('GET', seats);
  const seatId = body.items.find(({ status }) => status === 'available')?.id ?? '';
  await page.seatOnMap(tab, seatId).and(tab.locator('[data-status=available]')).waitFor();
  expect((await other.call('POST', `/matches/${matches.direct}/reservations`, { seat_ids: [seatId] })).status).toBe(201);
  // Until its seats are there: they would be taken for the next answer.
  await page.seatsAnswer(tab, 5);
  const again = await page.seatsAnswer(tab, 4);
  expect([first.since, again.since]).toEqual([null, expect.stringMatching(/^[\w-]{27}$/)]);
  expect(first.bytes).toBeGreaterThan(100_000);
  expect(again.bytes).toBeLessThan(500);
  await page.seatOnMap(tab, seatId).and(tab.locator('[data-status=held]')).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
}

export async function steerOnThePage({ browser, system, matches }: Visit): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const complaints = page.collectComplaints(tab);
  await page.openOps(tab, system.publicUrl, matches.withQueue);
  await page.pauseSale(tab, 'a short break');
  await page.resumeSale(tab);
  await page.setRate(tab, 240);
  await page.takeScreenshot(tab, 'journey-7-operator');
  const listed = new Fan(system);
  const joins = async () => (await listed.queue<{ code?: string }>('POST', matches.withQueue, '/join')).body.code;
  await page.listFan(tab, listed.id, 'Resold tickets');
  expect(await until(joins, (code) => code === 'BLACKLISTED')).toBe('BLACKLISTED');
  await page.takeScreenshot(tab, 'journey-9-blacklist');
  await page.liftFan(tab, listed.id);
  expect(await until(joins, (code) => code === undefined)).toBeUndefined();
  await page.openOps(tab, system.publicUrl, matches.direct);
  await page.refundOneTicket(tab, 'map@example.com');
  await page.takeScreenshot(tab, 'journey-10-refund');
  await page.openOps(tab, system.publicUrl, matches.withQueue);
  expect(await page.cancelMatch(tab, 'The pitch is under water')).toContain('The pitch is under water');
  await page.takeScreenshot(tab, 'journey-11-cancelled');
  expect(complaints).toEqual([]);
  await context.close();
}
