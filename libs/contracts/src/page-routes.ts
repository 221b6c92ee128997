import type { z } from 'zod';
import { blacklistEntryAnswer, blacklistPageAnswer, putFanOnBlacklistRequest } from './blacklist.ts';
import {
  cancelMatchRequest,
  changeQueueRequest,
  changeSaleRequest,
  matchAnswer,
  matchListAnswer,
  matchQuery,
  matchReportAnswer,
  opsMatchAnswer,
  opsMatchListAnswer,
} from './matches.ts';
import {
  checkOutAnswer,
  checkOutRequest,
  opsOrderListAnswer,
  opsOrderQuery,
  orderAnswer,
  refundAnswer,
  refundRequest,
} from './orders.ts';
import { pageQuery } from './paging.ts';
import { holdBody, reservationAnswer } from './reservations.ts';
import { seatListAnswer, seatQuery } from './seats.ts';
import { sectorListAnswer } from './sectors.ts';
import { ticketAnswer, ticketListAnswer } from './tickets.ts';
import { joinRequest, positionAnswer } from './waiting-room.ts';
import { queueStatusAnswer } from './waiting-room-control.ts';

/** The schemas of a route. A route without `answer` answers nothing, or something other than JSON. */
interface RouteSchemas {
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer?: z.ZodType;
}

/**
 * The routes that the page calls. The types of the page's client come from this table. A test compares it with the routes of the
 * services and with the calls of the page.
 */
export const pageRoutes = {
  'GET /api/v1/matches': { query: matchQuery, answer: matchListAnswer },
  'GET /api/v1/matches/:id': { answer: matchAnswer },
  'GET /api/v1/matches/:id/sectors': { answer: sectorListAnswer },
  'GET /api/v1/matches/:id/sectors/:sid/seats': { query: seatQuery, answer: seatListAnswer },
  'GET /api/v1/matches/:id/availability': {},
  'POST /api/v1/queue/:match_id/join': { body: joinRequest, answer: positionAnswer },
  'GET /api/v1/queue/:match_id/position': { answer: positionAnswer },
  'GET /api/v1/queue/:match_id/status': { answer: queueStatusAnswer },
  'DELETE /api/v1/queue/:match_id': {},
  'POST /api/v1/matches/:id/reservations': { body: holdBody, answer: reservationAnswer },
  'GET /api/v1/reservations/:id': { answer: reservationAnswer },
  'DELETE /api/v1/reservations/:id': {},
  'POST /api/v1/reservations/:id/checkout': { body: checkOutRequest, answer: checkOutAnswer },
  'GET /api/v1/orders/:id': { answer: orderAnswer },
  'GET /api/v1/tickets': { query: pageQuery, answer: ticketListAnswer },
  'GET /api/v1/tickets/:id': { answer: ticketAnswer },
  'GET /api/v1/tickets/:id/qr.svg': {},
  'GET /api/v1/ops/matches': { query: pageQuery, answer: opsMatchListAnswer },
  'GET /api/v1/ops/matches/:id/report': { answer: matchReportAnswer },
  'POST /api/v1/ops/matches/:id/sale': { body: changeSaleRequest, answer: opsMatchAnswer },
  'PUT /api/v1/ops/matches/:id/queue': { body: changeQueueRequest, answer: opsMatchAnswer },
  'POST /api/v1/ops/matches/:id/cancel': { body: cancelMatchRequest, answer: opsMatchAnswer },
  'GET /api/v1/ops/orders': { query: opsOrderQuery, answer: opsOrderListAnswer },
  'POST /api/v1/ops/orders/:id/refund': { body: refundRequest, answer: refundAnswer },
  'GET /api/v1/ops/blacklist': { query: pageQuery, answer: blacklistPageAnswer },
  'POST /api/v1/ops/blacklist': { body: putFanOnBlacklistRequest, answer: blacklistEntryAnswer },
  'DELETE /api/v1/ops/blacklist/:user_id': {},
} as const satisfies Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /api/v1/${string}`, RouteSchemas>;

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
  PageRoutes[Route] extends Record<'answer', infer Schema extends z.ZodType> ? z.output<Schema> : undefined;
