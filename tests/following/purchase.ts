import { randomUUID } from 'node:crypto';
import type { LoggedSystem } from './system.ts';

const HOUR_MS = 3_600_000;
const OPERATOR = '0190a000-0000-7000-8000-0000000000aa';

/** What a purchase is about. */
export interface Purchase {
  readonly reservationId: string;
  readonly orderId: string;
  readonly orderNumber: string;
  readonly fan: string;
}

/** The headers of the three requests of a purchase: `x-request-id`, `traceparent`. */
export interface PurchaseHeaders {
  readonly hold: Record<string, string>;
  readonly checkout: Record<string, string>;
  readonly payment: Record<string, string>;
}

type Json = Record<string, unknown>;

/** Makes a call with a new idempotency key. Throws unless it succeeds. */
export async function send(
  method: string,
  url: string,
  user: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Json> {
  const answer = await fetch(url, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-mock-user-id': user,
      'idempotency-key': randomUUID().replaceAll('-', ''),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status} ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as Json;
}

/** Creates a match as an operator. */
export function createMatch({ url }: LoggedSystem, facts: Json): Promise<Json> {
  const body = {
    ...{ home: 'Hrvatska', away: 'Italija', venue: 'Poljud', currency: 'EUR', max_tickets_per_fan: 4 },
    kickoff_at: new Date(Date.now() + 48 * HOUR_MS).toISOString(),
    sectors: [{ name: 'A', kind: 'seated', price_cents: 2500, rows: 2, seats_per_row: 5 }],
    ...facts,
  };
  return send('POST', `${url}/ops/matches`, OPERATOR, body, { 'x-mock-roles': 'ops' });
}

/** Opens the sale of a match with a queue as an operator. */
export async function openSale({ url }: LoggedSystem, matchId: string, headers: Record<string, string>): Promise<void> {
  await send('POST', `${url}/ops/matches/${matchId}/sale`, OPERATOR, { action: 'open' }, { 'x-mock-roles': 'ops', ...headers });
}

/** Puts a match on sale and buys one ticket as a fan with a phone. Resolves when the mails and the push were logged. */
export async function buyTicket(system: LoggedSystem, { hold, checkout, payment }: PurchaseHeaders): Promise<Purchase> {
  const { url } = system;
  const fan = randomUUID();
  const match = await createMatch(system, { queue_required: false, opens_at: new Date(Date.now() - HOUR_MS).toISOString() });
  await send('PUT', `${url}/me/devices/phone`, fan, { fcm_token: `token-of-${fan}` }, {});
  const [sector] = match.sectors as Json[];
  const held = await send(
    'POST',
    `${url}/matches/${String(match.id)}/reservations`,
    fan,
    { sector_id: sector?.id, quantity: 1 },
    hold,
  );
  const [seat] = held.seats as Json[];
  const order = await send(
    'POST',
    `${url}/reservations/${String(held.id)}/checkout`,
    fan,
    { holders: [{ seat_id: seat?.seat_id, name: 'Ana' }], email: 'ana@example.hr' },
    checkout,
  );
  await send('POST', (order.payment as Json).confirm_url as string, fan, { outcome: 'succeeded' }, payment);
  const orderId = String(order.order_id);
  await eventually(() => {
    const lines = system.grep(orderId);
    const sent = lines.filter(({ msg }) => msg === 'email sent' || msg === 'push sent');
    return sent.length === 3 && lines.some(({ route }) => String(route).includes('webhooks'));
  });
  return { reservationId: String(held.id), orderId, orderNumber: String(order.number), fan };
}

/** Waits until `isTrue`, at most 20 s. */
export async function eventually(isTrue: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + 20_000;
  while (!isTrue()) {
    if (Date.now() > giveUpAt) throw new Error(`Not true within 20 s: ${isTrue.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
