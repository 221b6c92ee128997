import { randomUUID } from 'node:crypto';
import { developmentSecrets } from '#platform/config/settings';
import { signWebhook } from '../../../apps/monolith/src/payment/outbound/webhooks.ts';
import { STAFF, type Services } from '../../bad-input/system.ts';
import type { AnswerListener, Heard } from './answer-listener.ts';

export const ops = { as: STAFF, roles: 'ops' };
export const HOUR_MS = 3_600_000;
export const later = (ms: number): string => new Date(Date.now() + ms).toISOString();
export const shortly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

export interface SoldMatch {
  readonly id: string;
  readonly sectors: readonly string[];
}

interface Held {
  readonly id: string;
  readonly total_cents: number;
  readonly seats: readonly { readonly seat_id: string }[];
}

export const standing = (name: string, price_cents: number, capacity: number): object => ({
  name,
  kind: 'standing',
  price_cents,
  capacity,
});

/** What fans and operators do at one system. */
export class Fans {
  constructor(
    readonly listener: AnswerListener,
    readonly system: Services,
  ) {}

  ask(...[method, path, wish]: [string, string, Parameters<AnswerListener['ask']>[3]?]): Promise<Heard> {
    return this.listener.ask('monolith', method, path, wish);
  }

  rows<T>(sql: string, parameters: readonly unknown[] = []): Promise<T[]> {
    return this.system.dataSource.query<T[]>(sql, [...parameters]);
  }

  async match(facts: object = {}, isOpen = true): Promise<SoldMatch> {
    const body = {
      home: 'Hrvatska',
      away: 'Italija',
      venue: 'Poljud',
      kickoff_at: later(48 * HOUR_MS),
      currency: 'EUR',
      max_tickets_per_fan: 4,
      queue_required: false,
      sectors: [
        { name: 'East', kind: 'seated', price_cents: 2500, rows: 2, seats_per_row: 6 },
        standing('South', 1000, 2),
        standing('Family', 0, 10),
      ],
      ...facts,
    };
    const { id, sectors } = await this.ask('POST', '/ops/matches', { ...ops, body });
    if (isOpen) await this.sale(id, 'open');
    return { id, sectors: sectors.map((sector: { id: string }) => sector.id) };
  }

  sale(matchId: string, action: string): Promise<Heard> {
    return this.ask('POST', `/ops/matches/${matchId}/sale`, { ...ops, body: { action } });
  }

  hold(matchId: string, body: object, as: string = randomUUID(), more: object = {}): Promise<Heard> {
    return this.ask('POST', `/matches/${matchId}/reservations`, { as, body, ...more });
  }

  holdIn({ id, sectors }: SoldMatch, sector: number, quantity: number, as?: string, more?: object): Promise<Heard> {
    return this.hold(id, { sector_id: sectors[sector], quantity }, as, more);
  }

  checkOut(held: Held, as: string): Promise<Heard> {
    const body = { holders: held.seats.map(({ seat_id }) => ({ seat_id, name: 'Ana' })), email: 'ana@example.hr' };
    return this.ask('POST', `/reservations/${held.id}/checkout`, { as, body });
  }

  /** Held, checked out, and paid if it costs anything. */
  async order(
    match: SoldMatch,
    as: string,
    quantity = 1,
    sector = 0,
  ): Promise<{ held: Held; orderId: string; tickets: string[] }> {
    const held = (await this.holdIn(match, sector, quantity, as)) as unknown as Held;
    const { order_id: orderId, payment } = await this.checkOut(held, as);
    if (payment) await this.pay(payment.intent_id, held.total_cents);
    const { tickets } = await this.ask('GET', `/orders/${orderId}`, { as });
    return { held, orderId, tickets: tickets.map(({ id }: { id: string }) => id) };
  }

  /** The sandbox and its webhook, which does not know where this system listens. */
  private async pay(intentId: string, amount: number): Promise<void> {
    for (const outcome of ['failed', 'abandoned', 'succeeded'])
      await this.ask('POST', `/sandbox/payments/${intentId}/confirm`, { body: { outcome }, key: null });
    const intent = { id: intentId, object: 'payment_intent', amount, amount_received: amount, currency: 'eur' };
    await this.webhook({ id: `evt_${intentId}`, type: 'payment_intent.succeeded', data: { object: intent } });
  }

  async webhook(event: object, signature?: string): Promise<void> {
    const payload = Buffer.from(JSON.stringify(event));
    const signed = signature ?? signWebhook(payload, developmentSecrets.STRIPE_WEBHOOK_SECRET, new Date());
    const headers = { 'stripe-signature': signed, 'content-type': 'application/json' };
    await this.listener.send('monolith', { method: 'POST', url: '/api/v1/payments/webhooks/stripe', headers, payload });
  }

  transfer(ticketId: string | undefined, as: string, to_user_id: string): Promise<Heard> {
    return this.ask('POST', `/tickets/${ticketId}/transfer`, { as, body: { to_user_id, holder_name: 'Barbara' } });
  }
}
