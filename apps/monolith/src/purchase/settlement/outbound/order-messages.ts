import type { OutboxMessage } from '#application/outbox';
import type { EmailJob, PushJob } from '#contracts/queue-jobs';
import { writePush } from '#domain/notification/push-templates';
import { formatMoney, type Money } from '#domain/shared/money';
import type { FanContact } from '../../../fans/fans.api.ts';
import type { IssuedTicket } from '../../../ticketing/ticketing.api.ts';
import type { MatchForSale, Order, Reservation } from '../../application/ports.ts';

export interface ToldOrder {
  readonly order: Order;
  readonly match: MatchForSale;
  readonly contact: FanContact;
  readonly now: Date;
  readonly nextId: () => string;
}

const envelope = (id: string, { now, order }: Pick<ToldOrder, 'now' | 'order'>) => ({
  job_id: id,
  created_at: now.toISOString(),
  attempts: 0 as const,
  max_attempts: 3 as const,
  about: { order_id: order.id, order_number: order.number, match_id: order.matchId },
});

function email(
  told: ToldOrder,
  event: string,
  part: Pick<EmailJob, 'template' | 'payload'>,
  to = { recipient: told.order.email, user_id: told.order.userId },
): OutboxMessage {
  const id = told.nextId();
  const body = { ...envelope(id, told), type: 'email', ...to, ...part };
  return { id, destination: 'email', event, aggregateId: told.order.id, body };
}

/** One mail that the order is paid. */
export function orderConfirmation(told: ToldOrder, reservation: Reservation): OutboxMessage {
  const { order, match, contact } = told;
  return email(told, 'order.completed', {
    template: 'order_confirmation',
    payload: {
      order_id: order.number,
      match_name: match.name,
      kickoff_at: match.kickoffAt.toISOString(),
      venue: match.venue,
      tickets: reservation.seats.map((seat) => ({
        sector: seat.sector,
        row: seat.row,
        seat: seat.number === null ? null : String(seat.number),
      })),
      total_amount: formatMoney({ amountCents: order.totalCents, currency: order.currency }),
      locale: contact.locale,
    },
  });
}

/** One mail with all tickets, and one push to the fan's devices that they are there. Gates by the sectors' names. */
export function ticketDelivery(
  told: ToldOrder,
  tickets: readonly IssuedTicket[],
  gates: ReadonlyMap<string, string | null>,
): OutboxMessage[] {
  const { order, match, contact } = told;
  const mail = email(told, 'ticket.generated', {
    template: 'ticket_delivery',
    payload: {
      order_id: order.number,
      match_name: match.name,
      kickoff_at: match.kickoffAt.toISOString(),
      venue: match.venue,
      tickets: tickets.map((ticket) => ({
        ticket_id: ticket.id,
        holder_name: ticket.holderName,
        code: ticket.code,
        sector: ticket.sector,
        row: ticket.row,
        seat: ticket.number === null ? null : String(ticket.number),
        gate: gates.get(ticket.sector) ?? null,
      })),
      locale: contact.locale,
    },
  });
  if (contact.fcmTokens.length === 0) return [mail];
  const id = told.nextId();
  const content = { template: 'ticket_delivery', match_name: match.name, tickets_count: tickets.length } as const;
  const push: PushJob = {
    ...envelope(id, told),
    type: 'push',
    template: 'ticket_delivery',
    user_id: order.userId,
    fcm_tokens: [...contact.fcmTokens],
    payload: {
      ...writePush(content, contact.locale),
      data: { order_id: order.id, match_id: order.matchId, action: 'open_tickets' },
    },
    priority: 'normal',
  };
  return [mail, { id, destination: 'push', event: 'ticket.generated', aggregateId: order.id, body: push }];
}

/** One mail that what was paid goes back. */
export function refundNotice(told: ToldOrder, paid: Money): OutboxMessage {
  const { order, match, contact } = told;
  return email(told, 'order.refunded', {
    template: 'refund',
    payload: {
      order_id: order.number,
      match_name: match.name,
      total_amount: formatMoney(paid),
      locale: contact.locale,
    },
  });
}

/** One mail to who had been given tickets that were refunded: the buyer has the money, the reader the news. */
export function goneNotice(told: ToldOrder, recipient: string, received: number): OutboxMessage {
  const { order, match, contact } = told;
  const nothing = formatMoney({ amountCents: 0, currency: order.currency });
  const payload = { order_id: order.number, match_name: match.name, total_amount: nothing, received, locale: contact.locale };
  return email(told, 'order.refunded', { template: 'refund', payload }, { recipient, user_id: contact.userId });
}
