import { uuidField, personName } from '#platform/http/text-fields';
import { z } from 'zod';
import type { OwnTicket } from '../ticketing/ticketing.api.ts';

export const transferRequest = z.strictObject({ to_user_id: uuidField, holder_name: personName }).meta({ id: 'TransferRequest' });

/** The giver's ticket after the transfer. The receiver's ticket has another id and code, which the giver must not see. */
export const transferredAnswer = z
  .object({
    id: z.guid(),
    order_id: z.guid(),
    match_id: z.guid(),
    seat: z.object({ seat_id: z.guid(), sector: z.string(), row: z.string().nullable(), number: z.int().nullable() }),
    holder_name: z.string(),
    status: z.literal('transferred'),
    code: z.string().meta({ description: 'No longer valid' }),
  })
  .meta({ id: 'TransferredTicket' });

/** The giver's ticket after the transfer, in the format of the API. */
export function transferredView(ticket: OwnTicket): z.infer<typeof transferredAnswer> {
  const { id, orderId, matchId, seat, holderName, code } = ticket;
  return {
    id,
    order_id: orderId,
    match_id: matchId,
    seat: { seat_id: seat.seatId, sector: seat.sector, row: seat.row, number: seat.number },
    holder_name: holderName,
    status: 'transferred',
    code,
  };
}
