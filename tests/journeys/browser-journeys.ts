import type { Browser, Page, Route } from 'playwright-core';
import { accessibilityFaults } from './accessibility.ts';
import { Fan, pollUntil } from './fan.ts';
import * as page from './page-objects.ts';
import type { StartedSystem } from './started-system.ts';

// Journeys of fans and operators on the web page. Each journey uses its own browser context.

/** What every journey uses: the browser, the running system and two matches. */
export interface JourneyContext {
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

/** Reads the sector and the reservation of the held seats from the API, to compare their prices with the page. */
async function readPricesFromApi(
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

/** A fan on a phone, in Croatian, queues and buys: from the list of matches to two tickets. */
export async function buyOnThePage({ browser, system, matches }: JourneyContext): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'hr-HR' });
  const tab = await context.newPage();
  const browserErrors = page.collectBrowserErrors(tab);
  expect((await page.openMatches(tab, system.publicUrl)).join(' ')).toContain('Italija');
  await page.takeScreenshot(tab, 'journey-1-matches');
  await page.openMatch(tab, matches.withQueue);
  await page.takeScreenshot(tab, 'journey-2-match');
  await page.joinQueue(tab);
  await page.waitForTurn(tab);
  await page.takeScreenshot(tab, 'journey-3-turn');
  const held = await page.holdBestSeats(tab, { sector: 1, quantity: 2 });
  const { sector, reservation } = await readPricesFromApi(tab, { system, matchId: matches.withQueue, held });
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
  expect(browserErrors).toEqual([]);
  await context.close();
}

/** A fan with a large screen, in English and without a queue, buys two seats from the map. The payment fails once. */
export async function chooseOnThePage({ browser, system, matches }: JourneyContext): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const browserErrors = page.collectBrowserErrors(tab);
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
  expect(browserErrors).toEqual([]);
  await context.close();
}

/** The answer to the first hold request and the first checkout request are lost. The page sends both requests again by itself. */
export async function loseTheNetworkOnThePage({ browser, system, matches }: JourneyContext): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const browserErrors = page.collectBrowserErrors(tab);
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
  const countFreeSeats = async () => {
    const { body } = await api.call<{ items: Sector[] }>('GET', `/matches/${matches.direct}/sectors`);
    return body.items[6]?.available ?? 0;
  };
  const before = await countFreeSeats();
  await page.openMatches(tab, system.publicUrl);
  await page.openMatch(tab, matches.direct);
  const held = await page.holdBestSeats(tab, { sector: 6, quantity: 2 });
  await page.checkOut(tab, { names: ['Ana Horvat', 'Ivo Horvat'], email: 'lost@example.com' });
  await page.pay(tab);

  const [hold, holdAgain, checkout, checkoutAgain, ...unexpected] = sent;
  expect(unexpected).toEqual([]);
  expect(hold?.key).toMatch(/^[0-9a-f]{32}$/);
  expect([holdAgain, checkoutAgain]).toEqual([hold, checkout]);
  expect(checkout?.url).toContain(held.reservationId);
  expect(await pollUntil(countFreeSeats, (now) => now === before - 2)).toBe(before - 2);
  const orders = await new Fan(system, 'ops').call<{ items: unknown[] }>(
    'GET',
    `/ops/orders?match_id=${matches.direct}&q=lost@example.com`,
  );
  expect(orders.body.items).toHaveLength(1);
  expect(browserErrors).toEqual([
    expect.stringContaining('ERR_CONNECTION_RESET'),
    expect.stringContaining('ERR_CONNECTION_RESET'),
  ]);
  await context.close();
}

/** A fan opens a sector a second time: the API sends only the changed seats, and the page shows them. */
export async function reopenSectorOnThePage({ browser, system, matches }: JourneyContext): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const browserErrors = page.collectBrowserErrors(tab);
  await page.openMatches(tab, system.publicUrl);
  await page.openMatch(tab, matches.direct);
  const fullLoads: string[] = [];
  tab.on('request', (request) => void (request.url().endsWith('/seats') && fullLoads.push(request.url())));
  const first = await page.openSectorAndReadAnswer(tab, 4);
  // A development build of the page would send this request twice and cancel the first.
  expect(fullLoads).toHaveLength(1);
  const { sectorId } = await page.openSector(tab, 4);
  const otherFan = new Fan(system);
  const seats = `/matches/${matches.direct}/sectors/${sectorId}/seats`;
  const { body } = await otherFan.call<{ items: { id: string; status: string }[] }>('GET', seats);
  const seatId = body.items.find(({ status }) => status === 'available')?.id ?? '';
  await page.seatOnMap(tab, seatId).and(tab.locator('[data-status=available]')).waitFor();
  expect((await otherFan.call('POST', `/matches/${matches.direct}/reservations`, { seat_ids: [seatId] })).status).toBe(201);
  // A sector is opened again only after another one.
  await page.openSectorAndReadAnswer(tab, 5);
  const second = await page.openSectorAndReadAnswer(tab, 4);
  expect([first.since, second.since]).toEqual([null, expect.stringMatching(/^[\w-]{27}$/)]);
  expect(first.bytes).toBeGreaterThan(100_000);
  expect(second.bytes).toBeLessThan(500);
  await page.seatOnMap(tab, seatId).and(tab.locator('[data-status=held]')).waitFor();
  expect(browserErrors).toEqual([]);
  await context.close();
}

/** An operator pauses and resumes the sale, changes the rate, blacklists a fan, refunds a ticket and cancels the match. */
export async function operateOnThePage({ browser, system, matches }: JourneyContext): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const tab = await context.newPage();
  const browserErrors = page.collectBrowserErrors(tab);
  await page.openOps(tab, system.publicUrl, matches.withQueue);
  await page.pauseSale(tab, 'a short break');
  await page.resumeSale(tab);
  await page.setRate(tab, 240);
  await page.takeScreenshot(tab, 'journey-7-operator');
  const listedFan = new Fan(system);
  const joinAndReadCode = async () => (await listedFan.queue<{ code?: string }>('POST', matches.withQueue, '/join')).body.code;
  await page.addToBlacklist(tab, listedFan.id, 'Resold tickets');
  expect(await pollUntil(joinAndReadCode, (code) => code === 'BLACKLISTED')).toBe('BLACKLISTED');
  await page.takeScreenshot(tab, 'journey-9-blacklist');
  await page.removeFromBlacklist(tab, listedFan.id);
  expect(await pollUntil(joinAndReadCode, (code) => code === undefined)).toBeUndefined();
  await page.openOps(tab, system.publicUrl, matches.direct);
  const [question, refunded] = await page.refundOneTicket(tab, 'map@example.com');
  expect(question).toMatch(/Refund €[\d.]+ for .+ · .+ · .+\?/);
  expect(refunded).toContain('Recorded in the audit log as “Refunded”.');
  expect(await page.addBuyerToBlacklist(tab, 'Resold tickets')).toContain('The account of map@example.com is on the blacklist.');
  expect(await accessibilityFaults(tab)).toEqual([]);
  await page.takeScreenshot(tab, 'journey-10-refund');
  await page.openOps(tab, system.publicUrl, matches.withQueue);
  expect(await page.cancelMatch(tab, 'The pitch is under water')).toContain('The pitch is under water');
  await page.takeScreenshot(tab, 'journey-11-cancelled');
  expect(browserErrors).toEqual([]);
  await context.close();
}

/** The search of matches appears with the eleventh match, on the page of fans and on the page of operators. */
export async function searchOnThePage({ browser, system, matches }: JourneyContext): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: 'hr-HR' });
  const tab = await context.newPage();
  const browserErrors = page.collectBrowserErrors(tab);
  expect(await page.openMatches(tab, system.publicUrl)).toHaveLength(2);
  expect(await tab.getByRole('searchbox').count()).toBe(0);
  const ops = new Fan(system, 'ops');
  const sectors = [{ name: 'East', kind: 'seated', price_cents: 2500, rows: 2, seats_per_row: 5 }];
  const kickoff_at = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const facts = { venue: 'Kranjčevićeva', kickoff_at, currency: 'EUR', max_tickets_per_fan: 4, queue_required: false, sectors };
  let lastId = '';
  for (const home of ['Ančić', 'Bašić', 'Čović', 'Ćosić', 'Dujić', 'Đurić', 'Erceg', 'Fabris', 'Đorđević']) {
    const answer = await ops.call<{ id: string }>('POST', '/ops/matches', { ...facts, home, away: 'Gosti' });
    lastId = answer.body.id;
  }
  const isFound = (answer: { body: { items: unknown[] } }): boolean => answer.body.items.length === 1;
  const search = () => ops.call<{ items: unknown[] }>('GET', '/matches?q=dordevic');
  expect(isFound(await pollUntil(search, isFound))).toBe(true);
  expect(await page.openMatches(tab, system.publicUrl)).toHaveLength(11);
  await page.findOneMatch(tab, 'dordev', lastId);
  await page.takeScreenshot(tab, 'journey-12-search');
  expect(await page.findNoMatch(tab, 'nepostojeći')).toContain('Nijedna utakmica');
  await tab.getByRole('searchbox').fill('');
  await page.waitForMatches(tab, 11);
  await page.openOps(tab, system.publicUrl, matches.direct);
  await page.findOneMatch(tab, 'KRANJCEVICEVA dorde', lastId);
  expect(browserErrors).toEqual([]);
  await context.close();
}

/** A fan opens an address that does not exist, in both languages: the page says so, with status 404, and leads back to the matches. */
export async function getLostOnThePage({ browser, system }: JourneyContext): Promise<void> {
  for (const [locale, language, title] of [
    ['hr-HR', 'hr', 'Stranica nije pronađena'],
    ['en-GB', 'en', 'Page not found'],
  ] as const) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale });
    const tab = await context.newPage();
    const browserErrors = page.collectBrowserErrors(tab);
    for (const path of ['/nowhere', '/matches/1', '/ops/elsewhere/deep']) {
      expect((await tab.goto(system.publicUrl + path))?.status()).toBe(404);
      await tab.getByRole('heading', { level: 1, name: title }).waitFor();
    }
    expect(await tab.locator('html').getAttribute('lang')).toBe(language);
    expect([await tab.getByRole('main').count(), await tab.getByRole('heading', { level: 1 }).count()]).toEqual([1, 1]);
    await page.takeScreenshot(tab, `journey-13-lost-${language}`);
    await tab.getByRole('main').getByRole('link').click();
    await tab.getByTestId('match-card').first().waitFor();
    expect(new URL(tab.url()).pathname).toBe('/');
    expect(browserErrors).toEqual([]);
    await context.close();
  }
}
