import type { ErrorCode } from '#contracts/error-catalogue';
import type { ProblemMembers } from '#contracts/problems';
import type { Problem } from '../api/problem.ts';
import type { Format } from './format.ts';
import { plural } from './plural.ts';

const otherSectors = ({ other_sectors }: ProblemMembers) => (other_sectors ? ' Other sectors still have some.' : '');

/** The text of a problem, made from the members of its answer. */
export type ProblemText = (problem: Pick<Problem, 'members' | 'retryAfterSeconds'>, format: Format) => string;

const pageMistake = () => 'The page made a mistake. Reload it and try again.';

/** The English text of each error code of CONTRACT §3 that a fan or an operator can receive, and of two codes of the page itself. */
export const problemTexts = {
  VALIDATION_FAILED: () => 'Something in the form is not right. Check what you entered.',
  IDEMPOTENCY_KEY_REQUIRED: pageMistake,
  IDEMPOTENCY_KEY_INVALID: pageMistake,
  IDEMPOTENCY_KEY_IN_USE: () => 'Your request is still being worked on. Wait a moment and try again; it takes effect once.',
  IDEMPOTENCY_KEY_REUSED: pageMistake,
  UNAUTHENTICATED: () => 'You are not signed in.',
  FORBIDDEN: () => 'You are not allowed to do this.',
  BLACKLISTED: () => 'You cannot buy tickets for this match. Please write to the organiser.',
  PURCHASE_WINDOW_REQUIRED: () => 'You need a turn from the waiting room before you can take seats.',
  PURCHASE_WINDOW_EXPIRED: () => 'Your time to buy has run out. Join the waiting room again.',
  NOT_FOUND: () => 'This does not exist, or it is not yours.',
  SEATS_UNAVAILABLE: ({ members }) =>
    members.available === undefined
      ? 'Somebody was faster: these seats are taken. Please choose others.'
      : `Somebody was faster. ${plural('en', members.available, { one: 'One place is', other: `${members.available} places are` })} still free here.${otherSectors(members)}`,
  SEATS_BUSY: () => 'Somebody else is taking these seats at this moment. Try again.',
  ALL_SEATS_HELD: ({ members }, format) =>
    `Everything here is on hold for others right now.${members.next_expiry_at ? ` The next seats may come back at ${format.clock(members.next_expiry_at)}.` : ' Some may come back.'}${otherSectors(members)}`,
  SOLD_OUT: ({ members }) => `Sold out here.${otherSectors(members)}`,
  TICKET_LIMIT_REACHED: ({ members }) =>
    members.rest
      ? `The limit is ${members.limit ?? ''} tickets per fan. You can take ${members.rest} more.`
      : `The limit is ${members.limit ?? ''} tickets per fan, and you have reached it.`,
  HOLD_COOLDOWN: ({ members }, format) =>
    `You let several holds of this match run out or gave them back. ${members.until ? `You can take seats again at ${format.clock(members.until)}.` : 'You can take seats again in a few minutes.'}`,
  TRANSFERS_LOCKED: () => 'The organiser does not allow tickets of this match to be passed on now.',
  PAYMENT_REFUSED: () =>
    'The payment provider does not accept this payment. Nothing was charged and your seats stay on hold. Try again, or choose other seats.',
  RESERVATION_EXPIRED: () => 'Your hold has run out and the seats are free again. Nothing was charged.',
  SALE_NOT_OPEN: ({ members }, format) =>
    members.opens_at ? `The sale opens on ${format.dateTime(members.opens_at)}.` : 'Tickets are not on sale at the moment.',
  QUEUE_CLOSED: ({ members }) => (members.reason === 'sold_out' ? 'Sold out: the line is closed.' : 'The line is closed.'),
  INVALID_STATE: ({ members }) =>
    members.order_id
      ? 'An order of yours is waiting for payment. Finish or cancel that one first.'
      : 'This is not possible any more. The page now shows the current state.',
  INVITATION_CLAIMED: () => 'Somebody else has accepted this invitation.',
  INVITATION_EXPIRED: ({ members }) =>
    members.invitation_status === 'withdrawn' ? 'This invitation was withdrawn.' : 'The time of this invitation is over.',
  QUOTA_EXCEEDED: ({ members: { available = 0 } }) => `Too few places are free: ${available}. Nothing was changed.`,
  MOVE_REFUSED: ({ members }) => `A rule refuses this. ${members.rule ?? ''}`,
  PAYLOAD_TOO_LARGE: () => 'The request was too large.',
  UNSUPPORTED_MEDIA_TYPE: pageMistake,
  RATE_LIMITED: ({ retryAfterSeconds }) =>
    retryAfterSeconds
      ? `Too many requests. Try again in ${plural('en', retryAfterSeconds, { one: '1 second', other: `${retryAfterSeconds} seconds` })}.`
      : 'Too many requests. Try again in a moment.',
  LOCK_TIMEOUT: () => 'Very many fans are buying at once. Nothing was changed; please try again.',
  OUTCOME_UNKNOWN: () => 'The outcome is not known yet. Try again: it takes effect once, even if you press twice.',
  DEPENDENCY_UNAVAILABLE: () => 'A part of the system does not answer at the moment. Nothing was changed; try again soon.',
  // No answer arrived.
  UNREACHABLE: () => 'No connection. Check your network and try again; nothing happens twice.',
  // The answer is not problem+json (for example a proxy's error page), or its code has no text here.
  UNKNOWN: () => 'Something went wrong on our side. Try again in a moment.',
} satisfies Partial<Record<ErrorCode | 'UNREACHABLE' | 'UNKNOWN', ProblemText>>;
