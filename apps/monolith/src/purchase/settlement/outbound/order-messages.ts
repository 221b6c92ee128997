import type { Origin } from '#application/origin';
import type { OutboxMessage } from '#application/outbox';
import type { EmailJob, PushJob } from '#contracts/queue-jobs';
import { writePush } from '#domain/notification/push-templates';
import { formatMoney, type Money } from '#domain/shared/money';
import type { FanContact } from '../../../fans/fans.api.ts';
import type { IssuedTicket } from '../../../ticketing/ticketing.api.ts';
import type { Reservation, ReservedSeat } from '../../application/ports.ts';
import type { MatchForSale, Order } from '../../application/sale-ports.ts';

/** The data that all messages about an order need. */
export interface OrderMessageFacts {
  readonly order: Order;
  readonly match: MatchForSale;
  readonly contact: FanContact;
  readonly now: Date;
  readonly nextId: () => string;
  /** The request that caused the messages, if it is not the current one. */
  readonly origin: Origin | undefined;
}

const envelope = (id: string, { now, order }: Pick<OrderMessageFacts, 'now' | 'order'>) => ({
  job_id: id,
  created_at: now.toISOString(),
  attempts: 0 as const,
  max_attempts: 3 as const,
  about: { order_id: order.id, order_number: order.number, reservation_id: order.reservationId, match_id: order.matchId },
});

/** One mail to the buyer, or to another fan. None to a buyer who has erased the address. */
function email(
  facts: OrderMessageFacts,
  event: string,
  content: Pick<EmailJob, 'template' | 'payload'>,
  to = { recipient: facts.order.email, user_id: facts.order.userId },
): OutboxMessage[] {
  if (to.recipient === '') return [];
  const id = facts.nextId();
  const body = { ...envelope(id, facts), type: 'email', ...to, ...content };
  return [{ id, destination: 'email', event, aggregateId: facts.order.id, body, origin: facts.origin }];
}

/** The variables that every mail about an order has. */
const orderFields = ({ order, match, contact }: OrderMessageFacts) => ({
  order_id: order.number,
  match_name: match.name,
  locale: contact.locale,
});

/** The variables of a mail that says when and where the match is. */
const visitFields = (facts: OrderMessageFacts) => ({
  ...orderFields(facts),
  kickoff_at: facts.match.kickoffAt.toISOString(),
  venue: facts.match.venue,
});

const seatFields = ({ sector, row, number }: Pick<ReservedSeat, 'sector' | 'row' | 'number'>) => ({
  sector,
  row,
  seat: number === null ? null : String(number),
});

/** The mail that confirms a completed order. */
export function orderConfirmation(facts: OrderMessageFacts, reservation: Reservation): OutboxMessage[] {
  const { totalCents: amountCents, currency } = facts.order;
  const tickets = reservation.seats.map(seatFields);
  const payload = { ...visitFields(facts), tickets, total_amount: formatMoney({ amountCents, currency }) };
  return email(facts, 'order.completed', { template: 'order_confirmation', payload });
}

/** One mail with all tickets of the order and, if the fan has a device, one push. `gates`: sector name → gate of the stadium. */
export function ticketDelivery(
  facts: OrderMessageFacts,
  issued: readonly IssuedTicket[],
  gates: ReadonlyMap<string, string | null>,
): OutboxMessage[] {
  const { order, match, contact } = facts;
  const tickets = issued.map((ticket) => ({
    ticket_id: ticket.id,
    holder_name: ticket.holderName,
    code: ticket.code,
    ...seatFields(ticket),
    gate: gates.get(ticket.sector) ?? null,
  }));
  const mails = email(facts, 'ticket.generated', { template: 'ticket_delivery', payload: { ...visitFields(facts), tickets } });
  if (contact.fcmTokens.length === 0) return mails;
  const id = facts.nextId();
  const content = { template: 'ticket_delivery', match_name: match.name, tickets_count: issued.length } as const;
  const push: PushJob = {
    ...envelope(id, facts),
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
  return [
    ...mails,
    { id, destination: 'push', event: 'ticket.generated', aggregateId: order.id, body: push, origin: facts.origin },
  ];
}

/** The mail that tells the buyer about a refund. */
export function refundNotice(facts: OrderMessageFacts, paid: Money): OutboxMessage[] {
  const payload = { ...orderFields(facts), total_amount: formatMoney(paid) };
  return email(facts, 'order.refunded', { template: 'refund', payload });
}

/** The mail to a fan who got tickets by transfer that were refunded. `received`: how many tickets. The money goes to the buyer. */
export function receiverNotice(facts: OrderMessageFacts, recipient: string, received: number): OutboxMessage[] {
  const zeroAmount = formatMoney({ amountCents: 0, currency: facts.order.currency });
  const payload = { ...orderFields(facts), total_amount: zeroAmount, received };
  return email(facts, 'order.refunded', { template: 'refund', payload }, { recipient, user_id: facts.contact.userId });
}
