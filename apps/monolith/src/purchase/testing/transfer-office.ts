import { randomUUID } from 'node:crypto';
import type { TestAnswer } from '../../testing/test-app.ts';
import { makeKnown } from '../../testing/transfer-calls.ts';
import type { MatchOnSale } from '../../testing/whole-monolith.ts';
import type { BoxOffice } from './box-office.ts';

/** A ticket as the API answers it to its owner. */
export interface ApiTicket {
  readonly id: string;
  readonly order_id: string;
  readonly status: string;
  readonly code: string;
  readonly holder_name: string;
  readonly seat: { readonly seat_id: string };
}

/** A fan who has bought tickets. */
export interface Buyer {
  readonly fan: string;
  readonly tickets: readonly [ApiTicket, ...ApiTicket[]];
}

type Message = { readonly destination: string; readonly event: string; readonly body: TestAnswer['json'] };

/** Test helper: makes the calls of fans who give tickets to each other. */
export class TransferOffice {
  constructor(readonly office: BoxOffice) {}

  /** A new fan who has a profile, so that tickets can be offered to the fan. */
  async fan(profile: { email?: string; name?: string; locale?: 'hr' | 'en' } = {}): Promise<string> {
    const userId = randomUUID();
    await makeKnown(this.office.monolith, userId, profile);
    return userId;
  }

  async tickets(fan: string): Promise<ApiTicket[]> {
    return (await this.office.monolith.call('GET', '/api/v1/tickets?limit=100', { as: fan })).json.items;
  }

  async buyer(match: MatchOnSale, quantity = 1, fan: string = randomUUID()): Promise<Buyer> {
    const ordered = await this.office.ordered(await this.office.held(match, { as: fan, quantity }));
    const settled = await this.office.settle(this.office.report(ordered));
    if (settled !== 'completed') throw new Error(settled);
    const bought = (await this.tickets(fan)).filter(({ order_id }) => order_id === ordered.orderId);
    return { fan, tickets: bought as [ApiTicket, ...ApiTicket[]] };
  }

  /** Offers the ticket: `to` is a user id or an address. */
  offer(
    ticket: Pick<ApiTicket, 'id'>,
    from: string,
    to: string,
    { key, ...more }: { holder_name?: string; key?: string } = {},
  ): Promise<TestAnswer> {
    const body = { ...(to.includes('@') ? { to_email: to } : { to_user_id: to }), ...more };
    return this.office.monolith.call('POST', `/api/v1/tickets/${ticket.id}/transfer`, {
      as: from,
      body,
      ...(key ? { key } : {}),
    });
  }

  /** Like `offer`, but throws if it is refused. Returns the id of the offer. */
  async offered(...args: Parameters<TransferOffice['offer']>): Promise<string> {
    const { status, text, json } = await this.offer(...args);
    if (status !== 202) throw new Error(`not offered: ${text}`);
    return json.id;
  }

  accept(offerId: string, as: string, { key, ...body }: { holder_name?: string; key?: string } = {}): Promise<TestAnswer> {
    return this.office.monolith.call('POST', `/api/v1/transfers/${offerId}/accept`, { as, body, ...(key ? { key } : {}) });
  }

  decline(offerId: string, as: string): Promise<TestAnswer> {
    return this.office.monolith.call('POST', `/api/v1/transfers/${offerId}/decline`, { as });
  }

  withdraw(offerId: string, as: string): Promise<TestAnswer> {
    return this.office.monolith.call('DELETE', `/api/v1/transfers/${offerId}`, { as });
  }

  async transfers(as: string): Promise<TestAnswer['json'][]> {
    return (await this.office.monolith.call('GET', '/api/v1/transfers?limit=100', { as })).json.items;
  }

  /** Offers the ticket and lets the fan accept it. Throws if one of them is refused. */
  async give(ticket: Pick<ApiTicket, 'id'>, from: string, to: string): Promise<void> {
    const { status, text } = await this.accept(await this.offered(ticket, from, to), to);
    if (status !== 200) throw new Error(`not accepted: ${text}`);
  }

  /** Sets the end of an open offer to a second ago. */
  async lapse(offerId: string): Promise<void> {
    const hourAgo = `created_at - interval '1 hour'`;
    await this.office.rows(
      `update transfer_offers set created_at = ${hourAgo}, expires_at = now() - interval '1 second' where id = $1`,
      [offerId],
    );
  }

  /** The messages about an offer, oldest first. */
  messages(offerId: string): Promise<Message[]> {
    return this.office.outbox(offerId);
  }
}

/** `200`, `204`, `409 INVALID_STATE`. */
export const statusAndCode = ({ status, json }: TestAnswer): string => (status < 400 ? `${status}` : `${status} ${json.code}`);
