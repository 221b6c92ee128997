import { plural } from './plural.ts';
import type { ProblemTexts } from './problem-texts.ts';

const otherSectors = (facts: { otherSectors: boolean }) => (facts.otherSectors ? ' Other sectors still have some.' : '');

/** The English text of each error code. */
export const problemTexts: ProblemTexts = {
  VALIDATION_FAILED: () => 'Something in the form is not right. Check what you entered.',
  IDEMPOTENCY_KEY_REQUIRED: () => 'The page made a mistake. Reload it and try again.',
  IDEMPOTENCY_KEY_INVALID: () => 'The page made a mistake. Reload it and try again.',
  IDEMPOTENCY_KEY_IN_USE: () => 'Your request is still being worked on. Wait a moment and try again; it takes effect once.',
  IDEMPOTENCY_KEY_REUSED: () => 'The page made a mistake. Reload it and try again.',
  UNAUTHENTICATED: () => 'You are not signed in.',
  FORBIDDEN: () => 'You are not allowed to do this.',
  BLACKLISTED: () => 'You cannot buy tickets for this match. Please write to the organiser.',
  PURCHASE_WINDOW_REQUIRED: () => 'You need a turn from the waiting room before you can take seats.',
  PURCHASE_WINDOW_EXPIRED: () => 'Your time to buy has run out. Join the waiting room again.',
  NOT_FOUND: () => 'This does not exist, or it is not yours.',
  SEATS_UNAVAILABLE: (facts) =>
    facts.available === undefined
      ? 'Somebody was faster: these seats are taken. Please choose others.'
      : `Somebody was faster. ${plural('en', facts.available, { one: 'One place is', other: `${facts.available} places are` })} still free here.${otherSectors(facts)}`,
  SEATS_BUSY: () => 'Somebody else is taking these seats at this moment. Try again.',
  ALL_SEATS_HELD: (facts) =>
    `Everything here is on hold for others right now.${facts.nextAt ? ` The next seats may come back at ${facts.nextAt}.` : ' Some may come back.'}${otherSectors(facts)}`,
  SOLD_OUT: (facts) => `Sold out here.${otherSectors(facts)}`,
  TICKET_LIMIT_REACHED: (facts) =>
    facts.rest
      ? `The limit is ${facts.limit ?? ''} tickets per fan. You can take ${facts.rest} more.`
      : `The limit is ${facts.limit ?? ''} tickets per fan, and you have reached it.`,
  PAYMENT_REFUSED: () =>
    'The payment provider does not accept this payment. Nothing was charged and your seats stay on hold. Try again, or choose other seats.',
  RESERVATION_EXPIRED: () => 'Your hold has run out and the seats are free again. Nothing was charged.',
  SALE_NOT_OPEN: (facts) => (facts.opensAt ? `The sale opens on ${facts.opensAt}.` : 'Tickets are not on sale at the moment.'),
  QUEUE_CLOSED: (facts) => (facts.reason === 'sold_out' ? 'Sold out: the line is closed.' : 'The line is closed.'),
  INVALID_STATE: (facts) =>
    facts.orderId
      ? 'An order of yours is waiting for payment. Finish or cancel that one first.'
      : 'This is not possible any more. The page now shows the current state.',
  PAYLOAD_TOO_LARGE: () => 'The request was too large.',
  UNSUPPORTED_MEDIA_TYPE: () => 'The page made a mistake. Reload it and try again.',
  RATE_LIMITED: (facts) =>
    facts.waitSeconds
      ? `Too many requests. Try again in ${plural('en', facts.waitSeconds, { one: '1 second', other: `${facts.waitSeconds} seconds` })}.`
      : 'Too many requests. Try again in a moment.',
  LOCK_TIMEOUT: () => 'Very many fans are buying at once. Nothing was changed; please try again.',
  OUTCOME_UNKNOWN: () => 'The outcome is not known yet. Try again: it takes effect once, even if you press twice.',
  DEPENDENCY_UNAVAILABLE: () => 'A part of the system does not answer at the moment. Nothing was changed; try again soon.',
  UNREACHABLE: () => 'No connection. Check your network and try again; nothing happens twice.',
  UNKNOWN: () => 'Something went wrong on our side. Try again in a moment.',
};
