import { OutboxRelays } from '../../relay/outbox-relays.ts';
import type { TestAnswer } from '../../testing/test-app.ts';
import { acceptOffer, giveTicket, offerTicket } from '../../testing/transfer-calls.ts';
import { ops, type MatchOnSale } from '../../testing/whole-monolith.ts';
import type { BoxOffice, Ordered } from './box-office.ts';

/** A row of the table `tickets`. */
export interface TicketRow {
  readonly id: string;
  readonly user_id: string;
  readonly seat_id: string;
  readonly status: string;
}

/**
 * Test helper: makes the calls of operators and fans on paid orders, and queries the refunds that the sandbox provider has made.
 */
export class RefundActions {
  constructor(readonly office: BoxOffice) {}

  /** Buys seats. Confirms the payment at the sandbox provider, which would otherwise refuse to refund it. */
  async paid(match: MatchOnSale, request: Parameters<BoxOffice['held']>[1] = {}): Promise<Ordered> {
    const ordered = await this.office.ordered(await this.office.held(match, request));
    const confirm = `/api/v1/sandbox/payments/${ordered.intentId}/confirm`;
    const { status, text } = await this.office.monolith.call('POST', confirm, { key: null, body: { outcome: 'succeeded' } });
    if (status !== 202) throw new Error(`not paid: ${text}`);
    const settled = await this.office.settle(this.office.report(ordered));
    if (settled !== 'completed') throw new Error(settled);
    return ordered;
  }

  refund({ orderId }: Pick<Ordered, 'orderId'>, ticketIds?: readonly string[], more: { key?: string } = {}): Promise<TestAnswer> {
    const body = ticketIds ? { ticket_ids: ticketIds } : {};
    return this.office.monolith.call('POST', `/api/v1/ops/orders/${orderId}/refund`, { ...ops, body, ...more });
  }

  /** Offers the ticket to the fan, who accepts it. */
  async transfer(ticket: Pick<TicketRow, 'id' | 'user_id'>, to: string): Promise<void> {
    await giveTicket(this.office.monolith, { ticketId: ticket.id, from: ticket.user_id, to });
  }

  /** Offers the ticket to the fan. Returns the id of the offer. */
  async offer(ticket: Pick<TicketRow, 'id' | 'user_id'>, to: string): Promise<string> {
    return (await offerTicket(this.office.monolith, { ticketId: ticket.id, from: ticket.user_id, to })).id;
  }

  accept(offerId: string, as: string): Promise<TestAnswer> {
    return acceptOffer(this.office.monolith, offerId, as);
  }

  /** The tickets of the order, sorted by id, which is the order of their seats. */
  tickets({ orderId }: Pick<Ordered, 'orderId'>): Promise<TicketRow[]> {
    return this.office.rows(`select id, user_id, seat_id, status from tickets where order_id = $1 order by id`, [orderId]);
  }

  async report(match: MatchOnSale): Promise<TestAnswer['json']> {
    return (await this.office.monolith.call('GET', `/api/v1/ops/matches/${match.id}/report`, ops)).json;
  }

  /** Delivers all outbox messages of this destination. */
  async relay(destination: string): Promise<void> {
    const relay = this.office.monolith.get(OutboxRelays).relays.find((candidate) => candidate.destination.name === destination);
    while (((await relay?.runOnce()) ?? 0) > 0);
  }

  /** Delivers all messages to the provider, then returns the cents of each refund that the sandbox made. */
  async givenBack({ intentId }: Pick<Ordered, 'intentId'>): Promise<number[]> {
    await this.relay('payments');
    const rows = await this.office.rows<{ amount_cents: number }>(
      `select amount_cents from sandbox_refunds where intent_id = $1 order by created_at, key`,
      [intentId],
    );
    return rows.map(({ amount_cents }) => amount_cents);
  }

  async timeline({ orderId }: Pick<Ordered, 'orderId'>): Promise<string[]> {
    const rows = await this.office.rows<{ event: string }>(`select event from order_timeline where order_id = $1 order by id`, [
      orderId,
    ]);
    return rows.map(({ event }) => event);
  }

  /** Mails to receivers of transferred tickets that were refunded: address and number of tickets. */
  async receiverMails({ orderId }: Pick<Ordered, 'orderId'>): Promise<[string, number][]> {
    const messages = await this.office.outbox(orderId);
    return messages.flatMap(({ body }) =>
      body.payload?.received ? [[body.recipient, body.payload.received] as [string, number]] : [],
    );
  }

  /** Amounts of the refund mails to the buyer. */
  async mails({ orderId }: Pick<Ordered, 'orderId'>): Promise<string[]> {
    const messages = await this.office.outbox(orderId);
    return messages
      .filter(({ body }) => body.template === 'refund' && !body.payload.received)
      .map(({ body }) => body.payload.total_amount);
  }
}
