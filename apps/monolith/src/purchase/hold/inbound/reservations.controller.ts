import { holdBody, reservationAnswer, reservationListAnswer, reservationQuery } from '#contracts/reservations';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { decodeCursor, page } from '#platform/http/paging';
import { RequestRefused } from '#platform/http/request-refused';
import { uuidField } from '#contracts/text-fields';
import { inSpan } from '#platform/tracing/spans';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Get, Headers, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { Reservation } from '../../application/ports.ts';
import { HoldSeats } from '../application/hold-seats.ts';
import { Reservations } from '../application/reservation-ports.ts';
import { ReservationReader } from '../application/reservation-reader.ts';
import { HoldObserver } from './hold-observer.ts';
import { reservationView } from './reservation-view.ts';

/** The transaction of a batch runs outside of its requests, so each request has a span of its own around the wait for it. */
const noSpanOptions = () => ({});

const HOLD_REFUSALS = [
  'NOT_FOUND',
  'BLACKLISTED',
  'SALE_NOT_OPEN',
  'PURCHASE_WINDOW_REQUIRED',
  'PURCHASE_WINDOW_EXPIRED',
  'HOLD_COOLDOWN',
  'TICKET_LIMIT_REACHED',
  'SEATS_BUSY',
  'SEATS_UNAVAILABLE',
  'ALL_SEATS_HELD',
  'SOLD_OUT',
] as const;

@ApiTags('purchase')
@Controller('api/v1')
export class ReservationsController {
  constructor(
    private readonly holdSeats: HoldSeats,
    private readonly reservations: Reservations,
    private readonly reservationReader: ReservationReader,
    private readonly answers: Answers,
    private readonly observer: HoldObserver,
  ) {}

  @Post('matches/:id/reservations')
  @Endpoint({
    operationId: 'holdSeats',
    access: 'fan',
    fanLimit: true,
    keyWithEffect: true,
    direct: true,
    refusals: HOLD_REFUSALS,
  })
  @ApiOperation({
    summary: 'Hold seats: the best together, or exactly these',
    description:
      'With `sector_id` and `quantity` the best seats of the sector, side by side where possible. With `seat_ids` exactly these, all or none. The seats are held until `expires_at`; check them out before. Several holds are possible up to the limit of the match.',
  })
  @ApiHeader({ name: 'X-Purchase-Session', description: 'The session_token of the turn, when the match has a waiting room' })
  @ApiCreatedResponse({ standardSchema: reservationAnswer })
  hold(
    @Param('id', { schema: uuidField }) matchId: string,
    @Body({ schema: holdBody }) body: z.output<typeof holdBody>,
    @Headers('x-purchase-session') sessionToken: string | undefined,
    @Caller() caller: CallerIdentity,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const fan = { matchId, userId: caller.userId, sessionToken, deadlineAtMs: reply.request.context?.deadlineAt };
    const seats = 'quantity' in body ? { sectorId: body.sector_id, quantity: body.quantity } : { seatIds: body.seat_ids };
    return this.answers.giveMade(
      reply,
      (idempotencyKey) =>
        inSpan('hold in a batch', noSpanOptions, () =>
          this.observer.ofHold(this.holdSeats.execute({ ...fan, ...seats, idempotencyKey })),
        ),
      (reservation) => ({ status: 201, location: `/api/v1/reservations/${reservation.id}`, body: reservationView(reservation) }),
      (reservationId) => this.asItWasHeld(reservationId),
    );
  }

  /**
   * The reservation as it was when it was created, because the answer to a repeated request must equal the first answer. Only the
   * status of a reservation ever changes.
   */
  private async asItWasHeld(reservationId: string): Promise<Reservation> {
    const reservation = await this.reservations.find(reservationId);
    if (!reservation) throw new Error(`reservation ${reservationId} has a key and is gone`);
    return { ...reservation, status: 'held' };
  }

  @Get('reservations')
  @Endpoint({ operationId: 'listReservations', access: 'fan' })
  @ApiOperation({
    summary: "The caller's reservations, newest first",
    description: 'Reservations of all states, also those that have ended. The filters can be combined.',
  })
  @ApiOkResponse({ standardSchema: reservationListAnswer })
  async list(
    @Query({ schema: reservationQuery }) query: z.output<typeof reservationQuery>,
    @Caller() { userId }: CallerIdentity,
  ): Promise<z.infer<typeof reservationListAnswer>> {
    const { match_id: matchId, status, cursor, limit } = query;
    const search = { userId, matchId, status, before: decodeCursor(cursor), limit: limit + 1 };
    return page(await this.reservationReader.list(search), limit, reservationView, ({ id }) => id);
  }

  @Get('reservations/:id')
  @Endpoint({ operationId: 'getReservation', access: 'fan', refusals: ['NOT_FOUND'] })
  @ApiOperation({ summary: 'A reservation, also when it has ended', description: "Another fan's reservation is 404." })
  @ApiOkResponse({ standardSchema: reservationAnswer })
  async one(
    @Param('id', { schema: uuidField }) reservationId: string,
    @Caller() caller: CallerIdentity,
  ): Promise<z.infer<typeof reservationAnswer>> {
    const reservation = await this.reservations.find(reservationId);
    if (reservation?.userId !== caller.userId) throw new RequestRefused('NOT_FOUND', { detail: 'There is no such reservation.' });
    return reservationView(reservation);
  }
}
