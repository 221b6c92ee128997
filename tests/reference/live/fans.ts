import { randomUUID } from 'node:crypto';
import { developmentSecrets } from '#platform/config/settings';
import { signWebhook } from '../../../apps/monolith/src/payment/outbound/webhooks.ts';
import { STAFF_ID, type Services } from '../../bad-input/system.ts';
import type { RecordingClient, ParsedAnswer } from './recording-client.ts';

/** Request options that identify an operator as the caller. */
export const ops = { as: STAFF_ID, roles: 'ops' };
export const HOUR_MS = 3_600_000;
/** The time `ms` milliseconds from now, as ISO 8601. */
export const timeFromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();
export const pause100Ms = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

/** A match with an open sale and the ids of its sectors. */
export interface MatchOnSale {
  readonly id: string;
  readonly sectors: readonly string[];
}

interface Held {
  readonly id: string;
  readonly total_cents: number;
  readonly seats: readonly { readonly seat_id: string }[];
}

/** The request body for a sector of standing places. */
export const standingSector = (name: string, price_cents: number, capacity: number): object => ({
  name,
  kind: 'standing',
  price_cents,
  capacity,
});

/** Sends the actions of fans and operators to one running system. */
export class FanActions {
  constructor(
    readonly client: RecordingClient,
    readonly system: Services,
  ) {}

  request(...[method, path, options]: [string, string, Parameters<RecordingClient['request']>[3]?]): Promise<ParsedAnswer> {
    return this.client.request('monolith', method, path, options);
  }

  rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.system.dataSource.query<T[]>(sql, [...parameters]);
  }

  async createMatch(fields: object = {}, isOpen = true): Promise<MatchOnSale> {
    const body = {
      home: 'Hrvatska',
      away: 'Italija',
      venue: 'Poljud',
      kickoff_at: timeFromNow(48 * HOUR_MS),
      currency: 'EUR',
      max_tickets_per_fan: 4,
      queue_required: false,
      sectors: [
        { name: 'East', kind: 'seated', price_cents: 2500, rows: 2, seats_per_row: 6 },
        standingSector('South', 1000, 2),
        standingSector('Family', 0, 10),
      ],
      ...fields,
    };
    const { id, sectors } = await this.request('POST', '/ops/matches', { ...ops, body });
    if (isOpen) await this.changeSale(id, 'open');
    return { id, sectors: sectors.map((sector: { id: string }) => sector.id) };
  }

  changeSale(matchId: string, action: string): Promise<ParsedAnswer> {
    return this.request('POST', `/ops/matches/${matchId}/sale`, { ...ops, body: { action } });
  }

  hold(matchId: string, body: object, as: string = randomUUID(), options: object = {}): Promise<ParsedAnswer> {
    return this.request('POST', `/matches/${matchId}/reservations`, { as, body, ...options });
  }

  holdIn({ id, sectors }: MatchOnSale, sector: number, quantity: number, as?: string, options?: object): Promise<ParsedAnswer> {
    return this.hold(id, { sector_id: sectors[sector], quantity }, as, options);
  }

  checkOut(held: Held, as: string): Promise<ParsedAnswer> {
    const body = { holders: held.seats.map(({ seat_id }) => ({ seat_id, name: 'Ana' })), email: 'ana@example.hr' };
    return this.request('POST', `/reservations/${held.id}/checkout`, { as, body });
  }

  /** Holds seats, checks out, and pays unless the order is free. */
  async buy(
    match: MatchOnSale,
    as: string,
    quantity = 1,
    sector = 0,
  ): Promise<{ held: Held; orderId: string; tickets: string[] }> {
    const held = (await this.holdIn(match, sector, quantity, as)) as unknown as Held;
    const { order_id: orderId, payment } = await this.checkOut(held, as);
    if (payment) await this.pay(payment.intent_id, held.total_cents);
    const { tickets } = await this.request('GET', `/orders/${orderId}`, { as });
    return { held, orderId, tickets: tickets.map(({ id }: { id: string }) => id) };
  }

  /** Confirms the payment at the sandbox, then sends the webhook, because the sandbox does not know the address of the tested system. */
  private async pay(intentId: string, amount: number): Promise<void> {
    for (const outcome of ['failed', 'abandoned', 'succeeded'])
      await this.request('POST', `/sandbox/payments/${intentId}/confirm`, { body: { outcome }, key: null });
    const intent = { id: intentId, object: 'payment_intent', amount, amount_received: amount, currency: 'eur' };
    await this.sendWebhook({ id: `evt_${intentId}`, type: 'payment_intent.succeeded', data: { object: intent } });
  }

  async sendWebhook(event: object, signature?: string): Promise<void> {
    const payload = Buffer.from(JSON.stringify(event));
    const signed = signature ?? signWebhook(payload, developmentSecrets.STRIPE_WEBHOOK_SECRET, new Date());
    const headers = { 'stripe-signature': signed, 'content-type': 'application/json' };
    await this.client.send('monolith', { method: 'POST', url: '/api/v1/payments/webhooks/stripe', headers, payload });
  }

  offer(ticketId: string | undefined, as: string, to: { to_user_id: string } | { to_email: string }): Promise<ParsedAnswer> {
    return this.request('POST', `/tickets/${ticketId}/transfer`, { as, body: { ...to, holder_name: 'Barbara' } });
  }

  /** The receiver's answer to an offer, or its withdrawal. */
  answerOffer(offer: ParsedAnswer, as: string, answer: 'accept' | 'decline' | 'withdraw'): Promise<ParsedAnswer> {
    if (answer === 'withdraw') return this.request('DELETE', `/transfers/${offer.id}`, { as });
    const body = answer === 'accept' ? { body: { holder_name: 'Barbara' } } : {};
    return this.request('POST', `/transfers/${offer.id}/${answer}`, { as, ...body });
  }

  /** Stores a profile, so that tickets can be offered to the fan. */
  async makeKnown(as: string): Promise<void> {
    await this.request('PUT', '/me', { as, body: { email: null, name: null, locale: 'hr' } });
  }
}
