import { z } from 'zod';
import { errorCatalogue, rowOf, type ErrorCode } from './error-catalogue.ts';

const standard = {
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]),
  detail: z.string(),
  request_id: z.string(),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .meta({ description: 'Which fields are wrong' }),
};

/** Any refusal. The schema of its code says which members come with it. */
export const problem = z
  .object(standard)
  .meta({ id: 'Problem', description: 'RFC 9457. Each code has a schema of its own; further members may be added.' });

const left = {
  available: z.int().min(0).meta({ description: 'Free seats of the sector' }),
  other_sectors: z.boolean().meta({ description: 'Are seats free in another sector?' }),
};
const sectorLeft = { sector_id: z.guid(), ...left };
const seatIds = z.array(z.guid());
const saleStatus = z.enum(['scheduled', 'open', 'paused', 'sold_out', 'closed']);

/** What a code tells beside the standard members. A new code does not compile without its row here. */
export const problemMembers = {
  ALL_SEATS_HELD: {
    ...sectorLeft,
    next_expiry_at: z.iso.datetime().meta({ description: 'When the next hold of the sector ends' }),
  },
  BLACKLISTED: {},
  DEPENDENCY_UNAVAILABLE: {
    state_needed: z.boolean().optional().meta({ description: 'The state of this waiting room is being restored: ask again' }),
  },
  FORBIDDEN: {},
  HEADERS_TOO_LARGE: {},
  IDEMPOTENCY_KEY_INVALID: {},
  IDEMPOTENCY_KEY_IN_USE: {},
  IDEMPOTENCY_KEY_REQUIRED: {},
  IDEMPOTENCY_KEY_REUSED: {},
  INTERNAL_ERROR: {},
  INVALID_STATE: {
    order_id: z.guid().optional().meta({ description: 'The order of this turn that is being paid or was paid' }),
    reservation_status: z.string().optional(),
    order_status: z.string().optional(),
    sale_status: saleStatus.optional(),
    cancelled_at: z.iso.datetime().optional(),
    tickets: z
      .array(z.object({ id: z.guid(), status: z.string() }))
      .optional()
      .meta({ description: 'Tickets that cannot be refunded' }),
  },
  LOCK_TIMEOUT: {},
  NOT_FOUND: { ticket_ids: z.array(z.guid()).optional().meta({ description: 'Tickets that the order does not have' }) },
  ORIGIN_NOT_ALLOWED: {},
  OUTCOME_UNKNOWN: {},
  PAYLOAD_TOO_LARGE: {},
  PAYMENT_REFUSED: { reason: z.string().meta({ description: "The provider's code for it", example: 'amount_too_small' }) },
  PURCHASE_WINDOW_EXPIRED: {},
  PURCHASE_WINDOW_REQUIRED: {},
  QUEUE_CLOSED: { reason: z.enum(['sold_out', 'closed']) },
  RATE_LIMITED: {},
  REQUEST_TIMEOUT: {},
  RESERVATION_EXPIRED: {},
  SALE_NOT_OPEN: {
    sale_status: saleStatus,
    opens_at: z.iso.datetime({ offset: true }).optional().meta({ description: 'When a scheduled sale opens by itself' }),
  },
  SEATS_BUSY: { ...sectorLeft, seat_ids: seatIds.optional().meta({ description: 'Of the seats that were named' }) },
  SEATS_UNAVAILABLE: {
    ...sectorLeft,
    seat_ids: seatIds.meta({ description: 'Of the seats that were named those that are gone' }),
    alternative: seatIds.optional().meta({ description: 'As many seats side by side, near those that were named' }),
  },
  SHUTTING_DOWN: {},
  SOLD_OUT: { ...left, sector_id: z.guid().optional().meta({ description: 'Missing when the whole match is sold out' }) },
  TICKET_LIMIT_REACHED: { limit: z.int(), rest: z.int().min(0).meta({ description: 'So many the fan may still take' }) },
  UNAUTHENTICATED: {},
  UNSUPPORTED_MEDIA_TYPE: {},
  URI_TOO_LONG: {},
  VALIDATION_FAILED: {},
} as const satisfies Record<ErrorCode, z.ZodRawShape>;

/** `SEATS_UNAVAILABLE` → `SeatsUnavailableProblem`. */
export function problemName(code: ErrorCode): string {
  const words = code.split('_').map((word) => `${word[0]}${word.slice(1).toLowerCase()}`);
  return `${words.join('')}Problem`;
}

/** A refusal with this code, for each code. A name belongs to one schema, so they are made once. */
export const problemsByCode = new Map<ErrorCode, z.ZodType>(
  (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, title } = rowOf(code);
    const own = { ...standard, status: z.literal(status), code: z.literal(code) };
    return [code, z.object({ ...own, ...problemMembers[code] }).meta({ id: problemName(code), description: title })];
  }),
);
