import type { OpsMatch } from '#contracts/matches';
import { html, match } from '../testing/invitation-samples.tsx';
import { orderOfTwo } from '../testing/order-samples.ts';
import type { Language } from '../text/texts.ts';
import { isNameOf, OpsCancel } from './ops-cancel.tsx';
import { OpsOrderCard } from './ops-order-card.tsx';
import { priceOf } from './ops-order-refund.tsx';

const nothing = () => undefined;
const opsMatch = match as unknown as OpsMatch;
const count = (page: string, testId: string) => page.split(`data-testid="${testId}"`).length - 1;

test.each<[Language, string[]]>([
  ['en', ['East · Row 3, seat 12 · Ana Anić', 'East · Row 3, seat 13 · Bo Bić', 'Refund the order: €25', 'Put the buyer']],
  ['hr', ['East · Red 3, sjedalo 12 · Ana Anić', 'Vrati novac za narudžbu: 25', 'Stavi kupca']],
])('in the language %s an order shows seats and holders, and the sum before a refund', (language, texts) => {
  const page = html(<OpsOrderCard order={orderOfTwo} onChange={nothing} />, language).replaceAll('\u00a0', ' ');
  for (const text of texts) expect(page).toContain(text);
  expect(count(page, 'ops-choose')).toBe(2);
});

test('used, refunded and transferred tickets cannot be chosen, and an order without valid tickets has no refund', () => {
  const [first, second] = orderOfTwo.tickets;
  const page = (...statuses: ('valid' | 'used' | 'refunded')[]) => {
    const tickets = [first!, second!].map((ticket, index) => ({ ...ticket, status: statuses[index]! }));
    return html(<OpsOrderCard order={{ ...orderOfTwo, tickets }} onChange={nothing} />);
  };
  expect([count(page('valid', 'refunded'), 'ops-choose'), count(page('valid', 'refunded'), 'ops-refund')]).toEqual([0, 1]);
  expect(count(page('used', 'refunded'), 'ops-refund')).toBe(0);
});

test('the sum of a refund is the price of the seats of its tickets', () => {
  expect(priceOf(orderOfTwo, orderOfTwo.tickets)).toBe(2500);
  expect(priceOf(orderOfTwo, orderOfTwo.tickets.slice(1))).toBe(1300);
  expect(priceOf(orderOfTwo, [])).toBe(0);
});

test.each([
  ['Hajduk\u00a0– Dinamo', true],
  [' hajduk - dinamo ', true],
  ['Hajduk-Dinamo', true],
  ['Dinamo – Hajduk', false],
  ['Hajduk', false],
  ['', false],
])('the text %j names the match Hajduk – Dinamo: %s', (text, isName) => {
  expect(isNameOf(match, text)).toBe(isName);
});

test.each<[Language, string[]]>([
  ['en', ['Type the name of the match:', 'cannot be undone', 'Cancel this match for ever']],
  ['hr', ['Upišite naziv utakmice:', 'ne može poništiti', 'Trajno otkaži ovu utakmicu']],
])('in the language %s cancelling asks for the name of the match and looks different', (language, texts) => {
  const page = html(<OpsCancel match={opsMatch} onChange={nothing} />, language);
  for (const text of [...texts, 'Hajduk\u00a0– Dinamo', 'final-act', 'button-danger']) expect(page).toContain(text);
});

test('a cancelled match says since when, why, and where it is recorded', () => {
  const cancelled = { ...opsMatch, cancelled_at: '2026-11-18T12:00:00.000Z', cancel_reason: 'Snow' };
  const page = html(<OpsCancel match={cancelled} onChange={nothing} />);
  for (const text of ['Snow', 'Recorded in the audit log as “Cancelled a match”.', 'ops-recorded-link'])
    expect(page).toContain(text);
  expect(page).not.toContain('ops-cancel-name');
});
