import { pageAddresses } from '#contracts/page-addresses';
import {
  anything,
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
  wholeNumber,
  type Shape,
} from './shapes.ts';
import type { SampleIds } from './system.ts';

/** A valid call of one route. The tests derive invalid calls from it. Written from the specification (CONTRACT §5 and §6), not the code. */
export interface Sample {
  /** Values of the path parameters: ids of objects that exist and belong to the sample fan. */
  readonly path?: (ids: SampleIds) => Readonly<Record<string, string>>;
  /** Valid bodies, one for each variant of the body. Absent if the route takes no body. */
  readonly bodies?: readonly Shape[];
  /** True if the route takes a body but may be called without it. */
  readonly bodyOptional?: true;
  readonly query?: 'page';
  /** True if the object in the path belongs to one fan. Other callers get 404. */
  readonly isOwned?: true;
  /** The expected status for an object that does not exist. Default 404. `not tested`: the tests do not send this call. */
  readonly answerIfMissing?: 200 | 204 | 'not tested';
}

const FAN_ID = '0190a000-0000-7000-8000-0000000000f1';
const byMatch = (ids: SampleIds) => ({ id: ids.matchId });
const byQueue = (ids: SampleIds) => ({ match_id: ids.queueMatchId });
const byQuota = (ids: SampleIds) => ({ id: ids.quotaId });
const byTicket = (ids: SampleIds) => ({ id: ids.ticketId });
const byReceivedOffer = (ids: SampleIds) => ({ id: ids.receivedOfferId });

const matchFields = {
  home: text(100, 'Hrvatska'),
  away: text(100, 'Italija'),
  venue: text(100, 'Poljud'),
  kickoff_at: time('2027-06-01T18:00:00Z'),
  max_tickets_per_fan: wholeNumber(1, 20, 4),
  opens_at: optional(nullable(time('2027-05-01T18:00:00Z'))),
};
const queueFields = {
  processing_rate: optional(wholeNumber(1, 1_000_000, 600)),
  max_open_windows: optional(wholeNumber(0, 1_000_000, 1000)),
};
const sectorFields = {
  name: text(100, 'A'),
  gate: optional(text(100, 'G1')),
  wheelchair: optional(flag(true)),
  price_cents: wholeNumber(0, 100_000_000, 3000),
};
const seated = object({
  ...sectorFields,
  kind: oneOf('seated'),
  rows: wholeNumber(1, 500, 2),
  seats_per_row: wholeNumber(1, 1000, 3),
});
const standing = object({ ...sectorFields, kind: oneOf('standing'), capacity: wholeNumber(1, 120_000, 5) });
const newMatch = (kind: Shape): Shape =>
  object({ ...matchFields, currency: token(3, 'EUR'), queue_required: flag(false), ...queueFields, sectors: list(kind, 200) });
const allOptional = (members: Record<string, Shape>): Record<string, Shape> =>
  Object.fromEntries(Object.entries(members).map(([name, shape]) => [name, optional(shape)]));

const listedFan = '0190a000-0000-7000-8000-0000000000e1';
const holder = object({ seat_id: uuid((ids) => ids.seatId), name: text(100, 'Ana Anić') });

const invitationToken = token(47, `inv_${'A'.repeat(43)}`);
const freeSeat = uuid((ids) => ids.freeSeatIds[0] ?? '');
// Without a sector the places may be of any sectors.
const ofSector = object({ sector_id: optional(uuid((ids) => ids.sectorId)), quantity: wholeNumber(1, 120_000, 1) });
const quotaFields = {
  name: text(100, 'Torcida'),
  members: list(
    uuid(() => FAN_ID),
    100,
    0,
  ),
  contact_email: nullable(email('torcida@example.hr')),
  opens_at: nullable(time('2027-01-01T18:00:00Z')),
  claim_until: nullable(time('2027-05-01T18:00:00Z')),
  return_at: nullable(time('2027-05-15T18:00:00Z')),
  on_return: oneOf('public'),
  never_to: list(oneOf('visitors'), 7, 0),
  max_per_invitation: wholeNumber(1, 20, 4),
  price_cents: {
    valid: (ids: SampleIds) => ({ [ids.sectorId]: 2500 }),
    invalid: ['', '{}', 3, true, null, [], { x: 1 }, { [FAN_ID]: -1 }, { [FAN_ID]: '1' }, { [FAN_ID]: null }],
    optional: false,
  },
};
const newQuota = (places: Shape): Shape =>
  object({ name: quotaFields.name, kind: oneOf('club'), places, dry_run: optional(flag(true)) });

/** The sample call of each route of the monolith. */
export const monolithSamples: Readonly<Record<string, Sample>> = {
  'GET /api/v1/matches': { query: 'page' },
  'GET /api/v1/matches/:id': { path: byMatch },
  'GET /api/v1/matches/:id/sectors': { path: byMatch },
  // The match of this call does not exist: for an existing match the route opens a stream that does not end.
  'GET /api/v1/matches/:id/availability': { path: () => ({ id: '0190a000-0000-7000-8000-0000000000ff' }) },
  'GET /api/v1/matches/:id/sectors/:sid/seats': { path: (ids) => ({ id: ids.matchId, sid: ids.sectorId }) },
  'POST /api/v1/matches/:id/reservations': {
    path: byMatch,
    bodies: [
      object({ sector_id: uuid((ids) => ids.sectorId), quantity: wholeNumber(1, 20, 2) }),
      object({
        seat_ids: list(
          uuid((ids) => ids.freeSeatIds[0] ?? ''),
          20,
        ),
      }),
    ],
  },
  'GET /api/v1/reservations': { query: 'page' },
  'GET /api/v1/reservations/:id': { path: (ids) => ({ id: ids.heldReservationId }), isOwned: true },
  'DELETE /api/v1/reservations/:id': { path: (ids) => ({ id: ids.heldReservationId }), isOwned: true },
  'POST /api/v1/reservations/:id/checkout': {
    path: (ids) => ({ id: ids.heldReservationId }),
    bodies: [object({ holders: list(holder, 20), email: email('ana@example.hr') })],
    isOwned: true,
  },
  'GET /api/v1/orders': { query: 'page' },
  'GET /api/v1/orders/:id': { path: (ids) => ({ id: ids.orderId }), isOwned: true },
  'GET /api/v1/tickets': { query: 'page' },
  'GET /api/v1/tickets/:id': { path: byTicket, isOwned: true },
  'GET /api/v1/tickets/:id/qr.svg': { path: byTicket, isOwned: true },
  'GET /api/v1/tickets/:id/ticket.pdf': { path: byTicket, isOwned: true },
  'POST /api/v1/tickets/:id/transfer': {
    path: byTicket,
    bodies: [
      object({
        to_user_id: uuid(() => '0190a000-0000-7000-8000-0000000000f7'),
        holder_name: optional(text(100, 'Barbara Barić')),
      }),
      object({ to_email: email('b@example.hr'), holder_name: optional(text(100, 'Barbara Barić')) }),
    ],
    isOwned: true,
  },
  'GET /api/v1/transfers': { query: 'page' },
  'POST /api/v1/transfers/:id/accept': {
    path: byReceivedOffer,
    bodies: [object({ holder_name: optional(text(100, 'Barbara Barić')) })],
    bodyOptional: true,
    isOwned: true,
  },
  'POST /api/v1/transfers/:id/decline': { path: byReceivedOffer, isOwned: true },
  'DELETE /api/v1/transfers/:id': { path: (ids) => ({ id: ids.givenOfferId }), isOwned: true },
  'GET /api/v1/me': {},
  'GET /api/v1/me/export': {},
  'DELETE /api/v1/me': {},
  'PUT /api/v1/me': {
    bodies: [object({ email: nullable(email('b@example.hr')), name: nullable(text(100, 'Barbara')), locale: oneOf('en') })],
  },
  'PUT /api/v1/me/devices/:device_id': {
    path: () => ({ device_id: 'phone' }),
    bodies: [object({ fcm_token: token(1024, 'another-token') })],
    answerIfMissing: 'not tested',
  },
  'DELETE /api/v1/me/devices/:device_id': { path: () => ({ device_id: 'phone' }), answerIfMissing: 204 },
  'POST /api/v1/sandbox/payments/:intent_id/confirm': {
    path: (ids) => ({ intent_id: ids.intentId }),
    bodies: [object({ outcome: oneOf('succeeded') })],
  },
  'POST /api/v1/payments/webhooks/stripe': {},
  'POST /api/v1/ops/matches': { bodies: [newMatch(seated), newMatch(standing)] },
  'GET /api/v1/ops/matches': { query: 'page' },
  'PATCH /api/v1/ops/matches/:id': {
    path: byMatch,
    bodies: [object({ ...allOptional(matchFields), ...queueFields, transfers: optional(oneOf('allowed')) })],
  },
  'POST /api/v1/ops/matches/:id/sale': {
    path: byMatch,
    bodies: [object({ action: oneOf('pause'), reason: optional(text(200, 'floodlights')) })],
  },
  'POST /api/v1/ops/matches/:id/cancel': { path: byMatch, bodies: [object({ reason: text(200, 'the pitch is under water') })] },
  'PUT /api/v1/ops/matches/:id/queue': { path: (ids) => ({ id: ids.queueMatchId }), bodies: [object(queueFields)] },
  'GET /api/v1/ops/matches/:id/report': { path: byMatch },
  'GET /api/v1/matches/:id/allocation': { path: byMatch },
  'POST /api/v1/ops/matches/:id/quotas': {
    path: byMatch,
    bodies: [
      object({
        ...{ kind: oneOf('club'), places: list(ofSector, 500), dry_run: optional(flag(true)) },
        parent_id: optional(nullable(uuid((ids) => ids.quotaId))),
        ...allOptional(quotaFields),
        name: quotaFields.name,
      }),
      newQuota(list(object({ seat_ids: list(freeSeat, 50_000) }), 500)),
    ],
  },
  'GET /api/v1/ops/matches/:id/quotas': { path: byMatch, query: 'page' },
  'POST /api/v1/ops/matches/:id/quotas/check': {
    path: byMatch,
    bodies: [object({ policy: token(64, 'uefa-conference-league-2023-24') })],
  },
  'GET /api/v1/ops/quota-policies': {},
  'GET /api/v1/ops/matches/:id/moves': { path: byMatch, query: 'page' },
  'GET /api/v1/ops/quotas/:id': { path: byQuota },
  'PATCH /api/v1/ops/quotas/:id': { path: byQuota, bodies: [object(allOptional(quotaFields))] },
  'POST /api/v1/ops/quotas/:id/moves': {
    path: byQuota,
    bodies: [
      object({
        ...{ to: token(36, 'public'), reason: text(200, 'asked for by phone'), override: optional(flag(true)) },
        places: list(ofSector, 500),
      }),
      object({
        ...{ to: token(36, 'public'), reason: text(200, 'asked for by phone') },
        places: list(object({ seat_ids: list(freeSeat, 50_000) }), 500),
      }),
    ],
  },
  // The sample system has no pending move, so even a valid call meets one that does not exist.
  'POST /api/v1/ops/moves/:id/approve': {},
  'POST /api/v1/ops/moves/:id/reject': {},
  'GET /api/v1/quotas': { query: 'page' },
  'GET /api/v1/quotas/:id': { path: byQuota },
  'GET /api/v1/quotas/:id/invitations': { path: byQuota, query: 'page' },
  'POST /api/v1/quotas/:id/invitations': {
    path: byQuota,
    bodies: [
      object({
        list_key: optional(text(100, 'sponsors')),
        expires_at: optional(time('2099-05-01T18:00:00Z')),
        dry_run: optional(flag(true)),
        // What is wrong with a row is the verdict about it. A row is no list and has no unknown fields.
        invitations: list(
          object({
            ...{
              email: anything('ana@example.hr'),
              name: anything('Ana Anić'),
              user_id: anything(FAN_ID),
              locale: anything('hr'),
            },
            ...{ quantity: anything(1), sector_id: anything(undefined), note: anything('board') },
          }),
          500,
        ),
      }),
    ],
  },
  // The sample system has no invitation, so even a valid call meets one that does not exist.
  'POST /api/v1/invitations/:id/resend': {},
  'POST /api/v1/invitations/lookup': { bodies: [object({ token: invitationToken })] },
  'POST /api/v1/invitations/claim': { bodies: [object({ token: invitationToken })] },
  'DELETE /api/v1/invitations/:id': {},
  'GET /api/v1/ops/orders': { query: 'page' },
  'POST /api/v1/ops/orders/:id/refund': {
    path: (ids) => ({ id: ids.orderId }),
    bodies: [
      object({
        ticket_ids: optional(
          list(
            uuid((ids) => ids.ticketId),
            20,
          ),
        ),
      }),
    ],
    bodyOptional: true,
  },
  'GET /api/v1/ops/audit': { query: 'page' },
  'GET /api/v1/ops/webhooks': { query: 'page' },
  'POST /api/v1/ops/webhooks': {
    bodies: [object({ url: token(2000, 'https://partner.example/events'), events: list(oneOf('order.completed'), 5) })],
  },
  'DELETE /api/v1/ops/webhooks/:id': { answerIfMissing: 204 },
  'GET /api/v1/ops/webhooks/:id/deliveries': { path: (ids) => ({ id: ids.webhookId }), query: 'page' },
  // The webhook of the sample system has no delivery, so even a valid call meets one that does not exist.
  'POST /api/v1/ops/webhooks/:id/deliveries/:delivery_id/retry': {},
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
  // The blacklist does not check whether a fan exists, so these calls accept any user id.
  'GET /api/v1/ops/blacklist/:user_id': { path: () => ({ user_id: listedFan }), answerIfMissing: 200 },
  'DELETE /api/v1/ops/blacklist/:user_id': { path: () => ({ user_id: listedFan }), answerIfMissing: 204 },
  'GET /api/v1/ops/jobs': { query: 'page' },
  // The test system has no failed job, so even a valid call meets a job that does not exist.
  'GET /api/v1/ops/jobs/counts': {},
  'POST /api/v1/ops/jobs/retry': {
    bodies: [
      object({
        queue: optional(oneOf('email')),
        template: optional(text(100, 'refund')),
        q: optional(text(100, 'refund')),
        dry_run: optional(flag(true)),
      }),
    ],
  },
  'POST /api/v1/ops/jobs/:job_id/retry': {},
  'DELETE /api/v1/ops/jobs/:job_id': {},
};

const control = {
  status: optional(oneOf('paused')),
  opens_at: optional(nullable(time('2027-05-01T18:00:00Z'))),
  ...queueFields,
  useful_windows: optional(nullable(wholeNumber(0, Number.MAX_SAFE_INTEGER, 3))),
  reason: optional(nullable(token(200, 'floodlights'))),
};

/** The sample call of each route of the queue service. */
export const queueSamples: Readonly<Record<string, Sample>> = {
  'POST /api/v1/queue/:match_id/join': {
    path: byQueue,
    bodies: [object({ receipt: optional(token(300, 'r1')) })],
    bodyOptional: true,
  },
  'GET /api/v1/queue/:match_id/position': { path: byQueue },
  'DELETE /api/v1/queue/:match_id': { path: byQueue, answerIfMissing: 204 },
  'GET /api/v1/queue/:match_id/status': { path: byQueue },
  'PUT /api/v1/queue/:match_id/control': {
    path: byQueue,
    bodies: [object(control)],
    answerIfMissing: 'not tested',
  },
  // The generation (number of a match's state in Redis) 0 is not newer than the stored one: the call is accepted and changes no data.
  'PUT /api/v1/queue/:match_id/restore': {
    path: byQueue,
    bodies: [
      object({
        exists: optional(flag(true)),
        generation: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER, 0)),
        part: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER, 0)),
        complete: optional(flag(true)),
        sale: optional(object({ ...control, closed_reason: optional(oneOf('sold_out')) })),
        counts: optional(
          object({
            granted: wholeNumber(0, Number.MAX_SAFE_INTEGER, 3),
            completed: wholeNumber(0, Number.MAX_SAFE_INTEGER, 2),
            expired: wholeNumber(0, Number.MAX_SAFE_INTEGER, 1),
          }),
        ),
        windows: optional(
          list(
            object({
              user_id: uuid(() => FAN_ID),
              session_token: token(103, 'st_x'),
              expires_at: time('2027-05-01T18:00:00Z'),
              place_score: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER, 3)),
            }),
            1000,
            0,
          ),
        ),
        used: optional(
          list(
            fanAndNumber(() => FAN_ID),
            4000,
            0,
          ),
        ),
      }),
    ],
    answerIfMissing: 'not tested',
  },
  'POST /api/v1/queue/:match_id/sold-out': {
    path: byQueue,
    bodies: [
      object({
        as_of: optional(wholeNumber(0, Number.MAX_SAFE_INTEGER, 3)),
        remaining_sectors: list(
          object({
            sector_id: uuid((ids) => ids.sectorId),
            name: token(100, 'A'),
            available: wholeNumber(0, Number.MAX_SAFE_INTEGER, 3),
          }),
          200,
          0,
        ),
      }),
    ],
    answerIfMissing: 204,
  },
  'POST /api/v1/queue/:match_id/windows/:user_id/complete': {
    path: (ids) => ({ match_id: ids.queueMatchId, user_id: '0190a000-0000-7000-8000-0000000000f1' }),
    bodies: [object({ session_token: optional(token(100, 'st_x')) })],
    bodyOptional: true,
    answerIfMissing: 204,
  },
  'DELETE /api/v1/queue-fans/:user_id': {
    path: () => ({ user_id: '0190a000-0000-7000-8000-0000000000f1' }),
    answerIfMissing: 204,
  },
  // The token is unknown: a valid token would open a stream that does not end.
  'GET /sse/:queue_token': { path: () => ({ queue_token: 'qt_0123456789' }) },
};

/** Routes outside the API: they take nothing but a path, or, for rehearsals, do nothing with what they take. */
const OUTSIDE_THE_API =
  /^(GET|HEAD) (\/health\/|\/metrics$|\/docs|\/openapi|\/asyncapi|\/config\.json$|\/assets\/|\/favicon|\/ws\/\*$)|^POST \/internal\/rehearsals\/|^OPTIONS \*$/;

/** Whether a route, as `GET /path`, needs a sample call. The pages of the web app are outside the API too. */
export function needsSample(route: string): boolean {
  const isPage = pageAddresses.some((address) => route === `GET ${address}`);
  return !isPage && !route.startsWith('HEAD ') && !OUTSIDE_THE_API.test(route);
}
