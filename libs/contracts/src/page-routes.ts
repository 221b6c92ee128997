import type { z } from 'zod';
import * as audit from './audit.ts';
import * as blacklist from './blacklist.ts';
import { fanExportAnswer } from './fan-export.ts';
import * as fans from './fans.ts';
import * as invitations from './invitations.ts';
import * as jobs from './jobs.ts';
import * as matches from './matches.ts';
import * as orders from './orders.ts';
import { pageQuery } from './paging.ts';
import * as policies from './quota-policies.ts';
import * as quotas from './quotas.ts';
import { holdBody, reservationAnswer } from './reservations.ts';
import { seatListAnswer, seatQuery } from './seats.ts';
import { sectorListAnswer } from './sectors.ts';
import * as tickets from './tickets.ts';
import * as transfers from './transfers.ts';
import * as waitingRoom from './waiting-room.ts';
import * as webhooks from './webhooks.ts';
import { queueStatusAnswer } from './waiting-room-control.ts';

/**
 * The schemas of a route. A route without `answer` answers nothing, or something other than JSON; a route with several gives one
 * of them.
 */
interface RouteSchemas {
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer?: z.ZodType | readonly z.ZodType[];
}

/**
 * The routes that the page calls. The types of the page's client come from this table. A test compares it with the routes of the
 * services and with the calls of the page.
 */
export const pageRoutes = {
  'GET /api/v1/matches': { query: matches.matchQuery, answer: matches.matchListAnswer },
  'GET /api/v1/matches/:id': { answer: matches.matchAnswer },
  'GET /api/v1/matches/:id/sectors': { answer: sectorListAnswer },
  'GET /api/v1/matches/:id/sectors/:sid/seats': { query: seatQuery, answer: seatListAnswer },
  'GET /api/v1/matches/:id/availability': {},
  'POST /api/v1/queue/:match_id/join': { body: waitingRoom.joinRequest, answer: waitingRoom.positionAnswer },
  'GET /api/v1/queue/:match_id/position': { answer: waitingRoom.positionAnswer },
  'GET /api/v1/queue/:match_id/status': { answer: queueStatusAnswer },
  'DELETE /api/v1/queue/:match_id': {},
  'POST /api/v1/matches/:id/reservations': { body: holdBody, answer: reservationAnswer },
  'GET /api/v1/reservations/:id': { answer: reservationAnswer },
  'DELETE /api/v1/reservations/:id': {},
  'POST /api/v1/reservations/:id/checkout': { body: orders.checkOutRequest, answer: orders.checkOutAnswer },
  'GET /api/v1/orders/:id': { answer: orders.orderAnswer },
  'GET /api/v1/tickets': { query: pageQuery, answer: tickets.ticketListAnswer },
  'GET /api/v1/tickets/:id': { answer: tickets.ticketAnswer },
  'GET /api/v1/tickets/:id/qr.svg': {},
  'POST /api/v1/tickets/:id/transfer': { body: transfers.transferRequest, answer: transfers.transferAnswer },
  'GET /api/v1/transfers': { query: pageQuery, answer: transfers.transferListAnswer },
  'POST /api/v1/transfers/:id/accept': { body: transfers.acceptTransferRequest, answer: transfers.transferAnswer },
  'POST /api/v1/transfers/:id/decline': { answer: transfers.transferAnswer },
  'DELETE /api/v1/transfers/:id': {},
  'GET /api/v1/me': { answer: fans.profileAnswer },
  'GET /api/v1/me/export': { answer: fanExportAnswer },
  'DELETE /api/v1/me': {},
  'PUT /api/v1/me': { body: fans.profileBody, answer: fans.profileAnswer },
  'POST /api/v1/invitations/lookup': { body: invitations.invitationTokenRequest, answer: invitations.invitationLookupAnswer },
  'POST /api/v1/invitations/claim': { body: invitations.invitationTokenRequest, answer: reservationAnswer },
  'GET /api/v1/quotas': { query: pageQuery, answer: quotas.quotaListAnswer },
  'GET /api/v1/quotas/:id': { answer: quotas.quotaAnswer },
  'GET /api/v1/quotas/:id/invitations': { query: pageQuery, answer: invitations.invitationListAnswer },
  'POST /api/v1/quotas/:id/invitations': {
    query: invitations.inviteQuery,
    body: invitations.inviteRequest,
    answer: invitations.inviteAnswer,
  },
  'POST /api/v1/invitations/:id/resend': { answer: invitations.invitationAnswer },
  'DELETE /api/v1/invitations/:id': {},
  'GET /api/v1/ops/matches': { query: matches.opsMatchQuery, answer: matches.opsMatchListAnswer },
  'GET /api/v1/ops/matches/:id/report': { answer: matches.matchReportAnswer },
  'PATCH /api/v1/ops/matches/:id': { body: matches.changeMatchRequest, answer: matches.opsMatchAnswer },
  'POST /api/v1/ops/matches/:id/sale': { body: matches.changeSaleRequest, answer: matches.opsMatchAnswer },
  'PUT /api/v1/ops/matches/:id/queue': { body: matches.changeQueueRequest, answer: matches.opsMatchAnswer },
  'POST /api/v1/ops/matches/:id/cancel': { body: matches.cancelMatchRequest, answer: matches.opsMatchAnswer },
  'GET /api/v1/ops/orders': { query: orders.opsOrderQuery, answer: orders.opsOrderListAnswer },
  'POST /api/v1/ops/orders/:id/refund': { body: orders.refundRequest, answer: orders.refundAnswer },
  'GET /api/v1/ops/webhooks': { query: pageQuery, answer: webhooks.webhookListAnswer },
  'POST /api/v1/ops/webhooks': { body: webhooks.createWebhookRequest, answer: webhooks.webhookCreatedAnswer },
  'DELETE /api/v1/ops/webhooks/:id': {},
  'GET /api/v1/ops/webhooks/:id/deliveries': { query: webhooks.deliveryQuery, answer: webhooks.webhookDeliveryListAnswer },
  'POST /api/v1/ops/webhooks/:id/deliveries/:delivery_id/retry': { answer: webhooks.webhookDeliveryAnswer },
  'GET /api/v1/ops/audit': { query: audit.auditQuery, answer: audit.auditPageAnswer },
  'GET /api/v1/ops/blacklist': { query: pageQuery, answer: blacklist.blacklistPageAnswer },
  'POST /api/v1/ops/blacklist': { body: blacklist.putFanOnBlacklistRequest, answer: blacklist.blacklistEntryAnswer },
  'DELETE /api/v1/ops/blacklist/:user_id': {},
  'GET /api/v1/ops/jobs': { query: jobs.jobQuery, answer: jobs.jobListAnswer },
  'GET /api/v1/ops/jobs/counts': { answer: jobs.jobCountsAnswer },
  'POST /api/v1/ops/jobs/retry': { body: jobs.retryJobsRequest, answer: jobs.retriedJobsAnswer },
  'POST /api/v1/ops/jobs/:job_id/retry': { answer: jobs.jobAnswer },
  'DELETE /api/v1/ops/jobs/:job_id': {},
  'GET /api/v1/matches/:id/allocation': { answer: quotas.allocationAnswer },
  'GET /api/v1/ops/matches/:id/quotas': { query: pageQuery, answer: quotas.quotaListAnswer },
  'POST /api/v1/ops/matches/:id/quotas': {
    body: quotas.createQuotaRequest,
    answer: [quotas.quotaAnswer, quotas.plannedPlacesAnswer],
  },
  'PATCH /api/v1/ops/quotas/:id': { body: quotas.changeQuotaRequest, answer: quotas.quotaAnswer },
  'POST /api/v1/ops/quotas/:id/moves': { body: quotas.movePlacesRequest, answer: quotas.quotaMoveAnswer },
  'GET /api/v1/ops/matches/:id/moves': { query: quotas.quotaMoveQuery, answer: quotas.quotaMoveListAnswer },
  'POST /api/v1/ops/moves/:id/approve': { answer: quotas.quotaMoveAnswer },
  'POST /api/v1/ops/moves/:id/reject': { answer: quotas.quotaMoveAnswer },
  'GET /api/v1/ops/quota-policies': { answer: policies.policyListAnswer },
  'POST /api/v1/ops/matches/:id/quotas/check': { body: policies.checkPolicyRequest, answer: policies.policyCheckAnswer },
} as const satisfies Record<`${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /api/v1/${string}`, RouteSchemas>;

type PageRoutes = typeof pageRoutes;

/** A route that the page calls with one of these methods. */
export type PageRoute<Method extends string = string> = Extract<keyof PageRoutes, `${Method} ${string}`>;

type NamesIn<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** A value for each parameter in the path of a route. */
export type RouteParams<Route extends PageRoute> = Readonly<Record<NamesIn<Route>, string>>;

type Input<Route extends PageRoute, Part extends 'query' | 'body'> =
  PageRoutes[Route] extends Record<Part, infer Schema extends z.ZodType> ? z.input<Schema> : undefined;
export type RouteQuery<Route extends PageRoute> = Input<Route, 'query'>;
export type RouteBody<Route extends PageRoute> = Input<Route, 'body'>;

export type RouteAnswer<Route extends PageRoute> =
  PageRoutes[Route] extends Record<'answer', (infer Schema extends z.ZodType) | readonly (infer Schema extends z.ZodType)[]>
    ? z.output<Schema>
    : undefined;
