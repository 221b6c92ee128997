import { checkOutAnswer, checkOutRequest, type CheckedOut } from '#contracts/orders';
import { Caller, type CallerIdentity } from '#platform/http/caller';
import { Endpoint } from '#platform/http/endpoint';
import { uuidField } from '#contracts/text-fields';
import { currentOrigin } from '#platform/tracing/origin';
import { Answers } from '#platform/idempotency/answers';
import { Body, Controller, Delete, Param, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { Order } from '../../application/sale-ports.ts';
import { HoldObserver } from '../../hold/inbound/hold-observer.ts';
import { CheckOut } from '../application/check-out.ts';
import { ReleaseReservation } from '../application/release-reservation.ts';

const CHECKOUT_REFUSALS = [
  'NOT_FOUND',
  'BLACKLISTED',
  'SALE_NOT_OPEN',
  'RESERVATION_EXPIRED',
  'INVALID_STATE',
  'PAYMENT_REFUSED',
] as const;

/** Checks out or releases a hold. */
@ApiTags('purchase')
@Controller('api/v1/reservations/:id')
export class CheckoutController {
  constructor(
    private readonly checkOut: CheckOut,
    private readonly releaseReservation: ReleaseReservation,
    private readonly answers: Answers,
    private readonly holdObserver: HoldObserver,
  ) {}

  @Delete()
  @Endpoint({
    operationId: 'releaseReservation',
    access: 'fan',
    status: 204,
    body: 'none',
    refusals: ['NOT_FOUND', 'INVALID_STATE'],
  })
  @ApiOperation({
    summary: 'Release the seats; cancels an order that awaits payment',
    description:
      '204 also if the hold was released before. The seats are for sale at once. A paid reservation is 409 `INVALID_STATE`.',
  })
  @ApiNoContentResponse()
  async release(@Param('id', { schema: uuidField }) reservationId: string, @Caller() caller: CallerIdentity): Promise<void> {
    await this.holdObserver.ofRelease(this.releaseReservation.execute({ reservationId, userId: caller.userId }));
  }

  @Post('checkout')
  @Endpoint({
    operationId: 'checkOut',
    access: 'fan',
    fanLimit: true,
    keyWithEffect: true,
    direct: true,
    refusals: CHECKOUT_REFUSALS,
  })
  @ApiOperation({
    summary: 'Create the order of the hold and its payment intent; a repeated request returns the same order',
    description:
      '`holders` names exactly the seats of the reservation. Pay the intent with the form of the provider, then read the order until it is `completed`. An order of 0 cents is completed at once.',
  })
  @ApiCreatedResponse({ standardSchema: checkOutAnswer })
  @ApiOkResponse({ standardSchema: checkOutAnswer })
  pay(
    @Param('id', { schema: uuidField }) reservationId: string,
    @Body({ schema: checkOutRequest }) body: z.output<typeof checkOutRequest>,
    @Caller() caller: CallerIdentity,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const holders = body.holders.map(({ seat_id, name }) => ({ seatId: seat_id, name }));
    const key = reply.request.currentKey?.requestKey.key;
    return this.answers.give(
      reply,
      () => {
        const { email } = body;
        return this.checkOut.execute({ reservationId, userId: caller.userId, holders, email, key, origin: currentOrigin() });
      },
      ({ order, isNew }) => ({
        status: isNew ? 201 : 200,
        ...(isNew ? { location: `/api/v1/orders/${order.id}` } : {}),
        body: checkedOutView(order),
        // It has the secret of the payment.
        ...(order.totalCents > 0 && { isSecret: true as const }),
      }),
    );
  }
}

/** An order as the answer to a checkout: with the payment data that the client needs. */
function checkedOutView({ id, number, status, payment, totalCents }: Order): CheckedOut {
  return {
    order_id: id,
    number,
    status,
    payment:
      totalCents === 0
        ? null
        : {
            provider: payment.provider,
            intent_id: payment.intentId ?? '',
            client_secret: payment.clientSecret ?? '',
            ...(payment.confirmUrl ? { confirm_url: payment.confirmUrl } : {}),
          },
  };
}
