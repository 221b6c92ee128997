import { saleStatuses } from '#domain/catalog/sale';
import { z } from 'zod';
import { transferStatuses } from './transfers.ts';
import { errorCatalogue, rowOf, type ErrorCode } from './error-catalogue.ts';

const STATUS = 'HTTP status of the answer';
const CODE = 'Stable code for programs: its meaning never changes';

const standardMembers = {
  type: z.string().meta({ description: 'URN of the code, such as `urn:tribina:problem:SOLD_OUT`' }),
  title: z.string().meta({ description: 'The code in words, for people. The text may change' }),
  status: z.int().meta({ description: STATUS }),
  code: z.enum(Object.keys(errorCatalogue) as [ErrorCode, ...ErrorCode[]]).meta({ description: CODE }),
  detail: z.string().meta({ description: 'What is wrong with this request, for people. The text may change' }),
  request_id: z.string().meta({ description: 'Id of this request in the log of the service; also the header X-Request-Id' }),
  errors: z
    .array(
      z.object({
        path: z.string().meta({ description: 'The field, such as `holders.0.name`' }),
        message: z.string().meta({ description: 'What is wrong with it' }),
      }),
    )
    .optional()
    .meta({ description: 'Which fields are wrong' }),
};

/** Schema of the answer to any refused request. Each error code has its own schema with further members. */
export const problem = z
  .object(standardMembers)
  .meta({ id: 'Problem', description: 'RFC 9457. Each code has a schema of its own; further members may be added.' });

const freeSeats = {
  available: z.int().min(0).meta({ description: 'Free seats of the sector' }),
  other_sectors: z.boolean().meta({ description: 'Whether seats are free in another sector of the match' }),
};
const freeSeatsOfSector = { sector_id: z.guid().meta({ description: 'The sector that the refusal speaks of' }), ...freeSeats };
const seatIds = z.array(z.guid());
const saleStatus = z.enum(saleStatuses).meta({ description: 'Status of the sale of the match' });

/**
 * The members that the answer of each error code has in addition to the standard members. A new code without a row here does not
 * compile.
 */
export const problemMembers = {
  ALL_SEATS_HELD: {
    ...freeSeatsOfSector,
    next_expiry_at: z.iso.datetime().meta({ description: 'When the next hold in the sector ends' }),
  },
  BLACKLISTED: {},
  DEPENDENCY_UNAVAILABLE: {
    state_needed: z.boolean().optional().meta({ description: 'The state of this waiting room is being restored: ask again' }),
  },
  FORBIDDEN: {},
  HEADERS_TOO_LARGE: {},
  HOLD_COOLDOWN: { until: z.iso.datetime().meta({ description: 'From when on the fan may hold seats of this match again' }) },
  IDEMPOTENCY_KEY_INVALID: {},
  IDEMPOTENCY_KEY_IN_USE: {},
  IDEMPOTENCY_KEY_REQUIRED: {},
  IDEMPOTENCY_KEY_REUSED: {},
  INTERNAL_ERROR: {},
  INVALID_STATE: {
    order_id: z.guid().optional().meta({ description: 'The order of this turn that is being paid or was paid' }),
    reservation_status: z.string().optional().meta({ description: 'Present status of the reservation' }),
    order_status: z.string().optional().meta({ description: 'Present status of the order' }),
    sale_status: saleStatus.optional(),
    transfer_status: z.enum(transferStatuses).optional().meta({ description: 'Present status of the offer of the ticket' }),
    cancelled_at: z.iso.datetime().optional().meta({ description: 'When the match was cancelled' }),
    tickets: z
      .array(
        z.object({
          id: z.guid().meta({ description: 'Id of the ticket' }),
          status: z.string().meta({ description: 'Present status of the ticket' }),
        }),
      )
      .optional()
      .meta({ description: 'Tickets that cannot be refunded' }),
  },
  INVITATION_CLAIMED: {},
  INVITATION_EXPIRED: {
    invitation_status: z.enum(['expired', 'withdrawn']).meta({ description: 'Whether its time is over or it was withdrawn' }),
  },
  LOCK_TIMEOUT: {},
  MOVE_REFUSED: { rule: z.string().meta({ description: 'The rule that refuses it, and the quota that has it' }) },
  NOT_FOUND: { ticket_ids: z.array(z.guid()).optional().meta({ description: 'Tickets that the order does not have' }) },
  ORIGIN_NOT_ALLOWED: {},
  OUTCOME_UNKNOWN: {},
  PAYLOAD_TOO_LARGE: {},
  PAYMENT_REFUSED: {
    reason: z.string().meta({ description: "The provider's code for the refusal, such as `amount_too_small`" }),
  },
  PURCHASE_WINDOW_EXPIRED: {},
  PURCHASE_WINDOW_REQUIRED: {},
  QUEUE_CLOSED: {
    reason: z.enum(['sold_out', 'closed']).meta({ description: 'Whether everything is sold, or an operator closed the sale' }),
  },
  QUOTA_EXCEEDED: {
    sector_id: z.guid().optional().meta({ description: 'Missing if the places may be of any sector' }),
    available: z
      .int()
      .min(0)
      .meta({ description: 'Free places of the sector, or of all sectors, in the public part or the quota' }),
    seat_ids: seatIds.optional().meta({ description: 'Requested places that are not free, at most 100' }),
  },
  RATE_LIMITED: {},
  REQUEST_TIMEOUT: {},
  RESERVATION_EXPIRED: {},
  SALE_NOT_OPEN: {
    sale_status: saleStatus,
    opens_at: z.iso.datetime({ offset: true }).optional().meta({ description: 'When a scheduled sale opens by itself' }),
  },
  SEATS_BUSY: {
    ...freeSeatsOfSector,
    seat_ids: seatIds.optional().meta({ description: 'Requested seats that are locked at the moment' }),
  },
  SEATS_UNAVAILABLE: {
    ...freeSeatsOfSector,
    seat_ids: seatIds.meta({ description: 'Requested seats that are not available' }),
    alternative: seatIds.optional().meta({ description: 'The same number of seats side by side, near the requested ones' }),
  },
  SHUTTING_DOWN: {},
  SOLD_OUT: { ...freeSeats, sector_id: z.guid().optional().meta({ description: 'Missing when the whole match is sold out' }) },
  TICKET_LIMIT_REACHED: {
    limit: z.int().meta({ description: 'How many tickets of the match one fan may have' }),
    rest: z.int().min(0).meta({ description: 'How many more tickets the fan may take' }),
  },
  TRANSFERS_LOCKED: {},
  UNAUTHENTICATED: {},
  UNSUPPORTED_MEDIA_TYPE: {},
  URI_TOO_LONG: {},
  VALIDATION_FAILED: {},
} as const satisfies Record<ErrorCode, z.ZodRawShape>;

/** Returns the schema name of an error code: `SEATS_UNAVAILABLE` → `SeatsUnavailableProblem`. */
export function problemName(code: ErrorCode): string {
  const words = code.split('_').map((word) => `${word[0]}${word.slice(1).toLowerCase()}`);
  return `${words.join('')}Problem`;
}

/** The schema of the answer with each error code. Created once, because a schema name may be registered only once. */
export const problemsByCode = new Map<ErrorCode, z.ZodType>(
  (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, title } = rowOf(code);
    const members = {
      ...standardMembers,
      status: z.literal(status).meta({ description: STATUS }),
      code: z.literal(code).meta({ description: CODE }),
    };
    return [code, z.object({ ...members, ...problemMembers[code] }).meta({ id: problemName(code), description: title })];
  }),
);

type Shape = (typeof problemMembers)[ErrorCode];
type NameIn<S> = S extends unknown ? keyof S : never;
type Member<S, Name extends PropertyKey> = S extends Record<Name, infer Schema extends z.ZodType> ? z.infer<Schema> : never;

/** The members that a problem answer may have in addition to the standard members. Its code says which. */
export type ProblemMembers = { [Name in NameIn<Shape>]?: Member<Shape, Name> } & Pick<z.infer<typeof problem>, 'errors'>;
