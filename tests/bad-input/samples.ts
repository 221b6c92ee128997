import {
  email,
  fanAndNumber,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  text,
  time,
  token,
  uuid,
  whole,
  type Shape,
} from './shapes.ts';
import type { SampleIds } from './system.ts';

/** A good call of one route, from which the walk makes the bad ones. Written after CONTRACT §5 and §6, not after the code. */
export interface Sample {
  /** Values of its path parameters: what exists and is the fan's. */
  readonly path?: (at: SampleIds) => Readonly<Record<string, string>>;
  /** Its bodies, when it takes one; several where there are variants. */
  readonly bodies?: readonly Shape[];
  /** It may be called without one. */
  readonly bodyOptional?: true;
  readonly query?: 'page';
  /** The object is one fan's: to others it is not there. */
  readonly isOwned?: true;
  /** What a call about an object that never was is answered; 404 where nothing is said. */
  readonly absent?: 200 | 204 | 'not asked';
}

const FAN = '0190a000-0000-7000-8000-0000000000f1';
const byMatch = (at: SampleIds) => ({ id: at.matchId });
const byQueue = (at: SampleIds) => ({ match_id: at.queueMatchId });
const byTicket = (at: SampleIds) => ({ id: at.ticketId });

const facts = {
  home: text(100, 'Hrvatska'),
  away: text(100, 'Italija'),
  venue: text(100, 'Poljud'),
  kickoff_at: time('2027-06-01T18:00:00Z'),
  max_tickets_per_fan: whole(1, 20, 4),
  opens_at: optional(nullable(time('2027-05-01T18:00:00Z'))),
};
const steering = {
  processing_rate: optional(whole(1, 1_000_000, 600)),
  max_open_windows: optional(whole(0, 1_000_000, 1000)),
};
const sector = { name: text(100, 'A'), gate: optional(text(100, 'G1')), price_cents: whole(0, 100_000_000, 3000) };
const seated = object({ ...sector, kind: oneOf('seated'), rows: whole(1, 500, 2), seats_per_row: whole(1, 1000, 3) });
const standing = object({ ...sector, kind: oneOf('standing'), capacity: whole(1, 120_000, 5) });
const newMatch = (kind: Shape): Shape =>
  object({ ...facts, currency: token(3, 'EUR'), queue_required: flag(false), ...steering, sectors: list(kind, 200) });
const allOptional = (members: Record<string, Shape>): Record<string, Shape> =>
  Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, optional(shape)]));

const listedFan = '0190a000-0000-7000-8000-0000000000e1';
const holder = object({ seat_id: uuid((at) => at.seatId), name: text(100, 'Ana Anić') });

export const monolithSamples: Readonly<Record<string, Sample>> = {
  'GET /api/v1/matches': { query: 'page' },
  'GET /api/v1/matches/:id': { path: byMatch },
  'GET /api/v1/matches/:id/sectors': { path: byMatch },
  // A match that is there has a stream that does not end.
  'GET /api/v1/matches/:id/availability': { path: () => ({ id: '0190a000-0000-7000-8000-0000000000ff' }) },
  'GET /api/v1/matches/:id/sectors/:sid/seats': { path: (at) => ({ id: at.matchId, sid: at.sectorId }) },
  'POST /api/v1/matches/:id/reservations': {
    path: byMatch,
    bodies: [
      object({ sector_id: uuid((at) => at.sectorId), quantity: whole(1, 20, 2) }),
      object({
        seat_ids: list(
          uuid((at) => at.freeSeatIds[0] ?? ''),
          20,
        ),
      }),
    ],
  },
  'GET /api/v1/reservations/:id': { path: (at) => ({ id: at.heldReservationId }), isOwned: true },
  'DELETE /api/v1/reservations/:id': { path: (at) => ({ id: at.heldReservationId }), isOwned: true },
  'POST /api/v1/reservations/:id/checkout': {
    path: (at) => ({ id: at.heldReservationId }),
    bodies: [object({ holders: list(holder, 20), email: email('ana@example.hr') })],
    isOwned: true,
  },
  'GET /api/v1/orders': { query: 'page' },
  'GET /api/v1/orders/:id': { path: (at) => ({ id: at.orderId }), isOwned: true },
  'GET /api/v1/tickets': { query: 'page' },
  'GET /api/v1/tickets/:id': { path: byTicket, isOwned: true },
  'GET /api/v1/tickets/:id/qr.svg': { path: byTicket, isOwned: true },
  'GET /api/v1/tickets/:id/ticket.pdf': { path: byTicket, isOwned: true },
  'POST /api/v1/tickets/:id/transfer': {
    path: byTicket,
    bodies: [object({ to_user_id: uuid(() => '0190a000-0000-7000-8000-0000000000f9'), holder_name: text(100, 'Barbara Barić') })],
    isOwned: true,
  },
  'GET /api/v1/me': {},
  'PUT /api/v1/me': {
    bodies: [object({ email: nullable(email('b@example.hr')), name: nullable(text(100, 'Barbara')), locale: oneOf('en') })],
  },
  'PUT /api/v1/me/devices/:device_id': {
    path: () => ({ device_id: 'phone' }),
    bodies: [object({ fcm_token: token(1024, 'another-token') })],
    absent: 'not asked',
  },
  'DELETE /api/v1/me/devices/:device_id': { path: () => ({ device_id: 'phone' }), absent: 204 },
  'POST /api/v1/sandbox/payments/:intent_id/confirm': {
    path: (at) => ({ intent_id: at.intentId }),
    bodies: [object({ outcome: oneOf('succeeded') })],
  },
  'POST /api/v1/payments/webhooks/stripe': {},
  'POST /api/v1/ops/matches': { bodies: [newMatch(seated), newMatch(standing)] },
  'GET /api/v1/ops/matches': { query: 'page' },
  'PATCH /api/v1/ops/matches/:id': { path: byMatch, bodies: [object({ ...allOptional(facts), ...steering })] },
  'POST /api/v1/ops/matches/:id/sale': {
    path: byMatch,
    bodies: [object({ action: oneOf('pause'), reason: optional(text(200, 'floodlights')) })],
  },
  'POST /api/v1/ops/matches/:id/cancel': { path: byMatch, bodies: [object({ reason: text(200, 'the pitch is under water') })] },
  'PUT /api/v1/ops/matches/:id/queue': { path: (at) => ({ id: at.queueMatchId }), bodies: [object(steering)] },
  'GET /api/v1/ops/matches/:id/report': { path: byMatch },
  'GET /api/v1/ops/orders': { query: 'page' },
  'POST /api/v1/ops/orders/:id/refund': {
    path: (at) => ({ id: at.orderId }),
    bodies: [
      object({
        ticket_ids: optional(
          list(
            uuid((at) => at.ticketId),
            20,
          ),
        ),
      }),
    ],
    bodyOptional: true,
  },
  'GET /api/v1/ops/blacklist': { query: 'page' },
  'POST /api/v1/ops/blacklist': {
    bodies: [
      object({
        user_id: uuid(() => listedFan),
        reason: text(200, 'resold tickets'),
        until: optional(nullable(time('2099-05-01T18:00:00Z'))),
      }),
    ],
  },
  // Fans are known elsewhere: anybody may be asked for, and taken off.
  'GET /api/v1/ops/blacklist/:user_id': { path: () => ({ user_id: listedFan }), absent: 200 },
  'DELETE /api/v1/ops/blacklist/:user_id': { path: () => ({ user_id: listedFan }), absent: 204 },
  'GET /api/v1/ops/jobs': { query: 'page' },
  // Nothing has failed in the walk's system: what a good call meets is a job that never was.
  'POST /api/v1/ops/jobs/:job_id/retry': {},
  'DELETE /api/v1/ops/jobs/:job_id': {},
};

const control = {
  status: optional(oneOf('paused')),
  opens_at: optional(nullable(time('2027-05-01T18:00:00Z'))),
  ...steering,
  useful_windows: optional(nullable(whole(0, Number.MAX_SAFE_INTEGER, 3))),
  reason: optional(nullable(token(200, 'floodlights'))),
};

export const queueSamples: Readonly<Record<string, Sample>> = {
  'POST /api/v1/queue/:match_id/join': {
    path: byQueue,
    bodies: [object({ receipt: optional(token(300, 'r1')) })],
    bodyOptional: true,
  },
  'GET /api/v1/queue/:match_id/position': { path: byQueue },
  'DELETE /api/v1/queue/:match_id': { path: byQueue, absent: 204 },
  'GET /api/v1/queue/:match_id/status': { path: byQueue },
  'PUT /api/v1/queue/:match_id/control': {
    path: byQueue,
    bodies: [object(control)],
    absent: 'not asked',
  },
  // A generation that is known already: taken, and changes nothing.
  'PUT /api/v1/queue/:match_id/restore': {
    path: byQueue,
    bodies: [
      object({
        exists: optional(flag(true)),
        generation: optional(whole(0, Number.MAX_SAFE_INTEGER, 0)),
        part: optional(whole(0, Number.MAX_SAFE_INTEGER, 0)),
        complete: optional(flag(true)),
        sale: optional(object({ ...control, closed_reason: optional(oneOf('sold_out')) })),
        counts: optional(
          object({
            granted: whole(0, Number.MAX_SAFE_INTEGER, 3),
            completed: whole(0, Number.MAX_SAFE_INTEGER, 2),
            expired: whole(0, Number.MAX_SAFE_INTEGER, 1),
          }),
        ),
        windows: optional(
          list(
            object({
              user_id: uuid(() => FAN),
              session_token: token(103, 'st_x'),
              expires_at: time('2027-05-01T18:00:00Z'),
              place_score: optional(whole(0, Number.MAX_SAFE_INTEGER, 3)),
            }),
            1000,
            0,
          ),
        ),
        used: optional(
          list(
            fanAndNumber(() => FAN),
            4000,
            0,
          ),
        ),
      }),
    ],
    absent: 'not asked',
  },
  'POST /api/v1/queue/:match_id/sold-out': {
    path: byQueue,
    bodies: [
      object({
        as_of: optional(whole(0, Number.MAX_SAFE_INTEGER, 3)),
        remaining_sectors: list(
          object({
            sector_id: uuid((at) => at.sectorId),
            name: token(100, 'A'),
            available: whole(0, Number.MAX_SAFE_INTEGER, 3),
          }),
          200,
          0,
        ),
      }),
    ],
    absent: 204,
  },
  'POST /api/v1/queue/:match_id/windows/:user_id/complete': {
    path: (at) => ({ match_id: at.queueMatchId, user_id: '0190a000-0000-7000-8000-0000000000f1' }),
    bodies: [object({ session_token: optional(token(100, 'st_x')) })],
    bodyOptional: true,
    absent: 204,
  },
  // A good token opens a stream that does not end.
  'GET /sse/:queue_token': { path: () => ({ queue_token: 'qt_0123456789' }) },
};

/** Beside the API: what Nest did not make, and what has nothing to be wrong but its address. */
export const withoutSample =
  /^(GET|HEAD) (\/health\/|\/metrics$|\/docs|\/openapi|\/asyncapi|\/config\.json$|\/assets\/|\/favicon|\/ws\/\*$|\/$|\/(matches|orders|tickets|ops)(\/\*)?$)|^OPTIONS \*$/;
