import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';

// Actions of fans and operators on the web page. The functions find elements by data-testid, because texts change and exist in two
// languages.

const screenshots = fileURLToPath(new URL('../../artefacts/screenshots/', import.meta.url));

/** Saves a screenshot below artefacts/screenshots. Returns its path. */
export async function takeScreenshot(page: Page, name: string): Promise<string> {
  const file = path.join(screenshots, `${name}.png`);
  await mkdir(path.dirname(file), { recursive: true });
  await page.screenshot({ path: file, fullPage: true });
  return file;
}

/**
 * Collects the errors that the browser reports from now on: exceptions, CORS errors, requests blocked by the content security policy.
 * Answers with 404 do not count, because the page reads a fan's position before the fan has joined.
 */
export function collectBrowserErrors(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of 404')) errors.push(message.text());
  });
  return errors;
}

/** The test id, or else the id, of the element that the keyboard is on. */
export const focused = (page: Page): Promise<unknown> =>
  page.evaluate('document.activeElement?.dataset.testid ?? document.activeElement?.id');

/** Opens the list of matches. Returns the text of each card. */
export async function openMatches(page: Page, url: string): Promise<string[]> {
  await page.goto(url);
  const cards = page.getByTestId('match-card');
  await cards.first().waitFor();
  return cards.allInnerTexts();
}

/** Waits until the list shows this number of matches. */
export async function waitForMatches(page: Page, count: number): Promise<void> {
  await page.locator(`:has(> [data-match-id]:nth-child(${count}):last-child)`).waitFor();
}

/** Searches the list of matches. Waits until only this match is shown. */
export async function findOneMatch(page: Page, text: string, matchId: string): Promise<void> {
  await page.getByRole('searchbox').fill(text);
  await waitForMatches(page, 1);
  expect(await page.locator('[data-match-id]').getAttribute('data-match-id')).toBe(matchId);
}

/** Searches the list of matches for a text that no match has. Returns what the page says. */
export async function findNoMatch(page: Page, text: string): Promise<string> {
  await page.getByRole('searchbox').fill(text);
  const result = page.getByTestId('match-search-result');
  await result.filter({ hasText: text }).waitFor();
  expect(await page.locator('[data-match-id]').count()).toBe(0);
  return result.innerText();
}

/** Opens a match from the list of matches. */
export async function openMatch(page: Page, matchId: string): Promise<void> {
  await page.locator(`[data-testid=match-card][data-match-id="${matchId}"]`).getByTestId('open-match').click();
}

/** Joins the queue. Returns the first position shown, or undefined if the turn came before a position was shown. */
export async function joinQueue(page: Page): Promise<number | undefined> {
  await page.getByTestId('join-queue').click();
  const position = page.getByTestId('queue-position');
  await position.or(page.getByTestId('turn-bar')).first().waitFor();
  const shown = await position.allInnerTexts();
  return shown[0] === undefined ? undefined : Number(shown[0].replaceAll(/\D/g, ''));
}

/** Waits until the page shows the fan's turn and the choice of seats. */
export async function waitForTurn(page: Page, timeoutMs = 30_000): Promise<void> {
  await page.getByTestId('turn-bar').waitFor({ timeout: timeoutMs });
  await page.getByTestId('seat-choice').waitFor();
}

/** The seats that the page has just held for the fan, with the prices that it shows. */
export interface HeldSeats {
  sectorId: string;
  /** The price that the list of sectors shows, in cents. */
  sectorPrice: number;
  reservationId: string;
  seats: string[];
  /** The shown prices in cents: of each seat, and last the total. */
  prices: number[];
}

/** Parses a shown price: "1.234,50 €" and "€1,234.50" are 123450 cents. The page shows two decimals in every language. */
const centsIn = (money: string): number => Number(money.replaceAll(/\D/g, ''));

/** The user id of the fan who uses the page. */
export async function fanId(page: Page): Promise<string> {
  return (await page.getByTestId('fan-id').getAttribute('data-fan-id')) ?? '';
}

/** Opens the nth sector of the list. Returns its id and the price shown in cents. */
export async function openSector(page: Page, nth = 0): Promise<{ sectorId: string; sectorPrice: number }> {
  const row = page.getByTestId('sector-row').nth(nth);
  const sectorPrice = centsIn(await row.getByTestId('sector-price').innerText());
  await row.click();
  await page.getByTestId('hold-best').waitFor();
  return { sectorId: (await row.getAttribute('data-sector-id')) ?? '', sectorPrice };
}

/** Lets the page choose the best seats of a sector and hold them. */
export async function holdBestSeats(page: Page, { sector = 0, quantity = 2 } = {}): Promise<HeldSeats> {
  const opened = await openSector(page, sector);
  await page.getByTestId('quantity').fill(String(quantity));
  await page.getByTestId('hold-best').click();
  return { ...opened, ...(await readHold(page)) };
}

/** A seat on the map of the open sector. */
export function seatOnMap(page: Page, seatId: string): Locator {
  return page.getByTestId('seat-map').locator(`[data-seat="${seatId}"]`);
}

/**
 * Opens a sector. Returns the `since` parameter of the request for its seats, and the size of the answer. An answer for another
 * sector does not count: it is a refresh of the sector that this click closes, and the page stops reading it.
 */
export async function openSectorAndReadAnswer(page: Page, nth: number): Promise<{ since: string | null; bytes: number }> {
  const sectorId = await page.getByTestId('sector-row').nth(nth).getAttribute('data-sector-id');
  const seatsResponse = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith(`/${sectorId}/seats`));
  await openSector(page, nth);
  const response = await seatsResponse;
  return { since: new URL(response.url()).searchParams.get('since'), bytes: (await response.body()).length };
}

/** Chooses seats by keyboard, which reaches every seat at every zoom level. */
export async function holdChosenSeats(page: Page, { sector = 0, quantity = 2 } = {}): Promise<HeldSeats> {
  const opened = await openSector(page, sector);
  const free = page.getByTestId('seat-map').locator('[data-seat][data-status=available]');
  await free.first().waitFor();
  for (let chosen = 0; chosen < quantity; chosen += 1) {
    // A chosen seat is no longer marked as available, so `first` is another seat each time.
    await free.first().focus();
    await page.keyboard.press('Space');
  }
  await page.getByTestId('hold-chosen').click();
  return { ...opened, ...(await readHold(page)) };
}

async function readHold(page: Page): Promise<Omit<HeldSeats, 'sectorId' | 'sectorPrice'>> {
  const summary = page.getByTestId('hold-summary');
  await summary.waitFor();
  return {
    reservationId: (await summary.getAttribute('data-reservation-id')) ?? '',
    seats: await summary.getByTestId('held-seat').allInnerTexts(),
    prices: [...(await summary.getByTestId('seat-price').allInnerTexts()), await summary.getByTestId('total').innerText()].map(
      centsIn,
    ),
  };
}

/** Fills in the checkout form and submits it. Returns the order id. */
export async function checkOut(page: Page, { names, email }: { names: string[]; email: string }): Promise<string> {
  await page.getByTestId('go-checkout').click();
  for (const [index, name] of names.entries()) await page.getByTestId(`holder-name-${index}`).fill(name);
  await page.getByTestId('email').fill(email);
  await page.getByTestId('place-order').click();
  const payment = page.getByTestId('payment');
  await payment.waitFor();
  return (await payment.getAttribute('data-order-id')) ?? '';
}

/** The amount on the payment page, in cents. */
export async function readAmount(page: Page): Promise<number> {
  return centsIn(await page.getByTestId('payment-amount').innerText());
}

/** Pays and waits until the order page shows the completed order. */
export async function pay(page: Page, timeoutMs = 15_000): Promise<void> {
  await page.getByTestId('pay').click();
  await page.locator('[data-testid=order-status][data-status=completed]').waitFor({ timeout: timeoutMs });
}

/** Declines the payment. The page still shows the payment, so the fan can try again. */
export async function decline(page: Page): Promise<void> {
  await page.getByTestId('decline').click();
  await page.getByTestId('payment').getByRole('alert').waitFor();
}

/** A ticket as the page shows it. */
export interface ShownTicket {
  id: string;
  status: string;
  sector: string;
  row: string | undefined;
  seat: string | undefined;
  holder: string;
  /** The width of the decoded QR image; 0 means a broken image. */
  qrWidth: number;
}

/** Waits for `count` QR codes. Returns the tickets on the page. */
export async function readTickets(page: Page, count: number): Promise<ShownTicket[]> {
  await page
    .getByTestId('ticket-qr')
    .nth(count - 1)
    .waitFor();
  const shown: ShownTicket[] = [];
  for (const ticket of await page.getByTestId('ticket').all()) {
    const textOf = async (testId: string) => (await ticket.getByTestId(testId).allInnerTexts())[0];
    shown.push({
      id: (await ticket.getAttribute('data-ticket-id')) ?? '',
      status: (await ticket.getAttribute('data-status')) ?? '',
      sector: (await textOf('ticket-sector')) ?? '',
      row: await textOf('ticket-row'),
      seat: await textOf('ticket-seat'),
      holder: (await textOf('ticket-holder')) ?? '',
      qrWidth: await ticket
        .getByTestId('ticket-qr')
        .evaluate((image: unknown) => (image as { naturalWidth: number }).naturalWidth),
    });
  }
  return shown;
}

/** Opens the page for operators with the view of one match. */
export async function openOps(page: Page, url: string, matchId: string): Promise<void> {
  await page.goto(`${url}/ops?match=${matchId}`);
  await page.getByTestId('ops-report').waitFor();
}

/** Pauses the sale as an operator. */
export async function pauseSale(page: Page, reason: string): Promise<void> {
  await page.getByTestId('ops-reason').fill(reason);
  await page.getByTestId('ops-pause').click();
  await page.getByTestId('ops-resume').waitFor();
}

/** Resumes a paused sale as an operator. */
export async function resumeSale(page: Page): Promise<void> {
  await page.getByTestId('ops-resume').click();
  await page.getByTestId('ops-pause').waitFor();
}

/** Sets how many turns per minute the line grants, as an operator. */
export async function setRate(page: Page, perMinute: number): Promise<void> {
  await page.getByTestId('ops-rate').fill(String(perMinute));
  await page.getByTestId('ops-save').click();
  await page.getByTestId('ops-saved').waitFor();
}

/** Finds the order with this email address and refunds one of its tickets, by keyboard. Returns the question before and the note after. */
export async function refundOneTicket(page: Page, email: string): Promise<string[]> {
  await page.getByTestId('ops-find').fill(email);
  await page.getByTestId('ops-search').click();
  const order = page.getByTestId('ops-order').first();
  await order.getByTestId('ops-choose').first().press('Space');
  await order.getByTestId('ops-refund-chosen').press('Enter');
  const question = await order.locator('.confirm p').innerText();
  await order.getByTestId('ops-refund-chosen-yes').press('Enter');
  return [question, await order.getByTestId('ops-refunded').innerText()];
}

/** Puts the fan of the first found order on the blacklist, by keyboard. Returns the note after. */
export async function addBuyerToBlacklist(page: Page, reason: string): Promise<string> {
  const order = page.getByTestId('ops-order').first();
  await order.getByTestId('ops-order-list').press('Enter');
  await order.getByTestId('ops-order-list-reason').fill(reason);
  await order.getByTestId('ops-order-list-yes').press('Enter');
  return order.getByTestId('ops-order-listed').innerText();
}

/** Puts a fan on the blacklist as an operator. */
export async function addToBlacklist(page: Page, userId: string, reason: string): Promise<void> {
  await page.getByTestId('ops-list-fan').fill(userId);
  await page.getByTestId('ops-list-reason').fill(reason);
  await page.getByTestId('ops-list').click();
  await page.getByTestId('ops-listed').filter({ hasText: userId }).waitFor();
}

/** Takes a fan off the blacklist as an operator. */
export async function removeFromBlacklist(page: Page, userId: string): Promise<void> {
  const entry = page.getByTestId('ops-listed').filter({ hasText: userId });
  await entry.getByTestId('ops-lift').click();
  await entry.getByTestId('ops-lift-yes').click();
  await entry.waitFor({ state: 'detached' });
}

/** Cancels the match as an operator, after an attempt with another name. Returns the confirmation shown. */
export async function cancelMatch(page: Page, reason: string): Promise<string> {
  await page.getByTestId('ops-cancel-reason').fill(reason);
  const name = page.getByTestId('ops-cancel-name');
  await name.fill('Another match');
  await name.press('Enter');
  await page.locator('[data-testid="ops-cancel-name"][aria-invalid="true"]').waitFor();
  await name.fill(await page.locator('.ops-cancel .field-hint').innerText());
  await name.press('Enter');
  return page.getByTestId('ops-cancelled').innerText();
}
