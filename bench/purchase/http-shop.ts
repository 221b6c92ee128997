// Buyers over HTTP: each has its own connection, like a phone, and every purchase is made by a new fan.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection, type HttpAnswer } from '../instruments/http-connection.ts';
import { CompletedOrders } from './completed-orders.ts';
import { QUANTITY, type Shop, type ShopAddress, type Purchase } from './shop.ts';

interface Held {
  readonly id: string;
  readonly seats: readonly { readonly seat_id: string }[];
}

interface CheckedOut {
  readonly order_id: string;
  readonly payment: { readonly confirm_url: string };
}

class Refused extends Error {}

/** What a purchase ends with: the hold, or an order that is complete, as the tables or the service say. */
export type PurchaseEnd = 'held' | 'complete in the tables' | 'complete over HTTP';

/** How often a fan asks whether the order is complete, and for how long. A failed webhook is sent again after one and two seconds. */
const POLL_INTERVAL_MS = 50;
const COMPLETION_TIMEOUT_MS = 15_000;

/** Opens the shop over HTTP. */
export async function openHttpShop(address: ShopAddress, end: PurchaseEnd): Promise<Shop> {
  const url = address.serviceUrl;
  if (!url) throw new Error('HTTP buyers need the URL of a service.');
  const connections = await Promise.all(Array.from({ length: address.callers }, () => HttpConnection.open(url)));
  const completed = end === 'complete in the tables' ? await CompletedOrders.watch(address.databaseUrl) : undefined;
  return {
    buy: async (purchase, caller) => {
      const connection = connections[caller]!;
      try {
        const held = await hold(connection, purchase);
        if (end === 'held') return undefined;
        const orderId = await pay(connection, held);
        const isComplete = await (completed?.waitFor(orderId) ?? pollOrder(connection, held.userId, orderId));
        return isComplete ? undefined : 'paid and not completed';
      } catch (error) {
        if (error instanceof Refused) return error.message;
        throw error;
      }
    },
    retries: async () => retriesIn(await (await fetch(`${url}/metrics`)).text()),
    close: async () => {
      for (const connection of connections) connection.close();
      await completed?.close();
    },
  };
}

interface HoldOfFan {
  readonly userId: string;
  readonly answer: HttpAnswer;
}

async function hold(connection: HttpConnection, { matchId, sectorId }: Purchase): Promise<HoldOfFan> {
  const userId = randomUUID();
  const body = `{"sector_id":"${sectorId}","quantity":${QUANTITY}}`;
  const answer = await connection.post(`/api/v1/matches/${matchId}/reservations`, headersOf(userId), body);
  return { userId, answer: requireStatus(201, answer) };
}

/** Checks out and pays through the sandbox, which then sends the webhook. Returns the order id. */
async function pay(connection: HttpConnection, { userId, answer: held }: HoldOfFan): Promise<string> {
  const { id, seats } = JSON.parse(held.body()) as Held;
  const holders = seats.map(({ seat_id }) => ({ seat_id, name: 'Ana Horvat' }));
  const body = JSON.stringify({ holders, email: 'ana@example.com' });
  const answer = await connection.post(`/api/v1/reservations/${id}/checkout`, headersOf(userId), body);
  const { order_id, payment } = JSON.parse(requireStatus(201, answer).body()) as CheckedOut;
  requireStatus(202, await connection.post(new URL(payment.confirm_url).pathname, '', '{"outcome":"succeeded"}'));
  return order_id;
}

/** Resolves to true when the service answers that the order is complete, to false after the timeout. */
async function pollOrder(connection: HttpConnection, userId: string, orderId: string): Promise<boolean> {
  for (const giveUpAt = performance.now() + COMPLETION_TIMEOUT_MS; performance.now() < giveUpAt;) {
    await sleep(POLL_INTERVAL_MS);
    const answer = await connection.get(`/api/v1/orders/${orderId}`, `x-mock-user-id: ${userId}\r\n`);
    if (requireStatus(200, answer).body().includes('"status":"completed"')) return true;
  }
  return false;
}

function headersOf(userId: string): string {
  return `x-mock-user-id: ${userId}\r\nidempotency-key: ${randomUUID().replaceAll('-', '')}\r\n`;
}

function requireStatus(status: number, answer: HttpAnswer): HttpAnswer {
  if (answer.status === status) return answer;
  const body = answer.body();
  const [, code] = /"code":"(\w+)"/.exec(body) ?? [];
  throw new Refused(`${answer.status} ${code ?? body.slice(0, 120)}`);
}

/** Sums a counter from Prometheus text such as `transaction_retries_total{sqlstate="40001"} 3`. */
function retriesIn(metrics: string): number {
  return [...metrics.matchAll(/^transaction_retries_total(?:\{.*\})? (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
