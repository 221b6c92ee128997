import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { signWebhook } from '../../apps/monolith/src/payment/outbound/webhooks.ts';
import { developmentSecrets } from '#platform/config/settings';
import { openServices, type Services } from '../bad-input/system.ts';

// Runs both services with a match of two seats and a waiting room. The sale closes when it is sold out, and reopens by itself when a seat
// is refunded.

let services: Services;
beforeAll(async () => void (services = await openServices()));
afterAll(() => services.close());

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = { status: number; json: any };

async function call(
  service: 'monolith' | 'queue',
  method: string,
  path: string,
  fan: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${services[service].port}/api/v1${path}`, {
    method,
    headers: {
      'x-mock-user-id': fan,
      ...(method === 'POST' && service === 'monolith' ? { 'idempotency-key': randomUUID().replaceAll('-', '') } : {}),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
}
async function pollUntil(matches: (answer: Answer) => boolean, request: () => Promise<Answer>, withinMs = 8000): Promise<Answer> {
  let answer = await request();
  for (const giveUpAt = Date.now() + withinMs; !matches(answer) && Date.now() < giveUpAt; answer = await request())
    await pause(50);
  return answer;
}

const staff = randomUUID();
const join = (matchId: string, fan: string) => call('queue', 'POST', `/queue/${matchId}/join`, fan);
const readPosition = (matchId: string, fan: string) => call('queue', 'GET', `/queue/${matchId}/position`, fan);
const saleOf = (matchId: string) => call('monolith', 'GET', `/matches/${matchId}`, staff);

/** Sends the provider's payment event. The sandbox cannot send it, because it does not know the address of these services. */
async function sendPaymentEvent(order: Answer['json'], { total_cents: amount }: Answer['json']): Promise<void> {
  const object = {
    id: order.payment.intent_id,
    amount,
    amount_received: amount,
    currency: 'eur',
    metadata: { order_id: order.order_id },
  };
  const payload = JSON.stringify({ id: `evt_${randomUUID()}`, type: 'payment_intent.succeeded', data: { object } });
  const headers = {
    'content-type': 'application/json',
    'stripe-signature': signWebhook(Buffer.from(payload), developmentSecrets.STRIPE_WEBHOOK_SECRET, new Date()),
  };
  const url = `http://127.0.0.1:${services.monolith.port}/api/v1/payments/webhooks/stripe`;
  const answer = await fetch(url, { method: 'POST', headers, body: payload });
  if (answer.status !== 200) throw new Error(`the webhook was answered ${answer.status} ${await answer.text()}`);
}

async function buy(matchId: string, sectorId: string, fan: string, quantity: number): Promise<void> {
  await join(matchId, fan);
  const { json: turn } = await pollUntil(
    ({ json }) => json.status === 'granted',
    () => readPosition(matchId, fan),
  );
  const holdOptions = { body: { sector_id: sectorId, quantity }, headers: { 'x-purchase-session': turn.session_token } };
  const { json: hold } = await call('monolith', 'POST', `/matches/${matchId}/reservations`, fan, holdOptions);
  const holders = hold.seats.map(({ seat_id }: { seat_id: string }) => ({ seat_id, name: 'Ana Anić' }));
  const { json: order } = await call('monolith', 'POST', `/reservations/${hold.id}/checkout`, fan, {
    body: { holders, email: 'ana@example.hr' },
  });
  await sendPaymentEvent(order, hold);
}

test('the last sold seat closes the line with the reason sold_out; a refunded seat reopens the sale with an empty line', async () => {
  const [ana, ben, eva] = [randomUUID(), randomUUID(), randomUUID()];
  const matchFields = {
    home: 'Hrvatska',
    away: 'Italija',
    venue: 'Maksimir',
    currency: 'EUR',
    max_tickets_per_fan: 4,
    queue_required: true,
  };
  const times = {
    kickoff_at: new Date(Date.now() + 86_400_000).toISOString(),
    opens_at: new Date(Date.now() - 1000).toISOString(),
  };
  const sectors = [{ name: 'East A', kind: 'seated', price_cents: 2500, rows: 1, seats_per_row: 2 }];
  const created = await call('monolith', 'POST', '/ops/matches', staff, {
    body: { ...matchFields, ...times, max_open_windows: 1, sectors },
    headers: { 'x-mock-roles': 'ops' },
  });
  const [matchId, sectorId] = [created.json.id, created.json.sectors[0].id];
  await pollUntil(
    ({ status }) => status === 200,
    () => call('queue', 'GET', `/queue/${matchId}/status`, staff),
  );

  const buying = buy(matchId, sectorId, ana, 2);
  await pollUntil(
    ({ status }) => status === 200,
    () => readPosition(matchId, ana),
  );
  await join(matchId, ben);
  await buying;
  expect(
    (
      await pollUntil(
        ({ json }) => json.sale.status === 'sold_out',
        () => saleOf(matchId),
      )
    ).json.sale.status,
  ).toBe('sold_out');
  const positionOfBen = await pollUntil(
    ({ json }) => json.status === 'closed',
    () => readPosition(matchId, ben),
  );
  expect([positionOfBen.json.status, positionOfBen.json.position]).toEqual(['closed', null]);
  const lateJoin = await join(matchId, eva);
  expect([lateJoin.status, lateJoin.json.code, lateJoin.json.reason]).toEqual([409, 'QUEUE_CLOSED', 'sold_out']);

  await services.dataSource.query(
    `with refunded as (update seats set status = 'available', reservation_id = null
                   where id = (select id from seats where match_id = $1 limit 1) returning id)
     update tickets set status = 'refunded' where seat_id in (select id from refunded)`,
    [matchId],
  );
  expect(
    (
      await pollUntil(
        ({ json }) => json.sale.status === 'open',
        () => saleOf(matchId),
      )
    ).json.sale.status,
  ).toBe('open');
  const { json: reopened } = await pollUntil(
    ({ json }) => json.status === 'active',
    () => call('queue', 'GET', `/queue/${matchId}/status`, staff),
  );
  expect(reopened).toMatchObject({ status: 'active', total: 0 });
  await buy(matchId, sectorId, eva, 1);
  expect(
    (
      await pollUntil(
        ({ json }) => json.sale.status === 'sold_out',
        () => saleOf(matchId),
      )
    ).json.sale.status,
  ).toBe('sold_out');
});
