import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { signWebhook } from '../../apps/monolith/src/payment/outbound/webhooks.ts';
import { developmentSecrets } from '#platform/config/settings';
import { openServices, type Services } from '../bad-input/system.ts';

// A match with two seats and a waiting room, both services as they run: sold out, and open again, by itself.

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
  more: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${services[service].port}/api/v1${path}`, {
    method,
    headers: {
      'x-mock-user-id': fan,
      ...(method === 'POST' && service === 'monolith' ? { 'idempotency-key': randomUUID().replaceAll('-', '') } : {}),
      ...(more.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more.headers,
    },
    ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
}
async function until(fits: (answer: Answer) => boolean, ask: () => Promise<Answer>, withinMs = 8000): Promise<Answer> {
  let answer = await ask();
  for (const giveUpAt = Date.now() + withinMs; !fits(answer) && Date.now() < giveUpAt; answer = await ask()) await pause(50);
  return answer;
}

const staff = randomUUID();
const join = (matchId: string, fan: string) => call('queue', 'POST', `/queue/${matchId}/join`, fan);
const place = (matchId: string, fan: string) => call('queue', 'GET', `/queue/${matchId}/position`, fan);
const saleOf = (matchId: string) => call('monolith', 'GET', `/matches/${matchId}`, staff);

/** What the provider says; the sandbox would say it to an address that these services do not have. */
async function paid(order: Answer['json'], { total_cents: amount }: Answer['json']): Promise<void> {
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
  const { json: turn } = await until(
    ({ json }) => json.status === 'granted',
    () => place(matchId, fan),
  );
  const wish = { body: { sector_id: sectorId, quantity }, headers: { 'x-purchase-session': turn.session_token } };
  const { json: hold } = await call('monolith', 'POST', `/matches/${matchId}/reservations`, fan, wish);
  const holders = hold.seats.map(({ seat_id }: { seat_id: string }) => ({ seat_id, name: 'Ana Anić' }));
  const { json: order } = await call('monolith', 'POST', `/reservations/${hold.id}/checkout`, fan, {
    body: { holders, email: 'ana@example.hr' },
  });
  await paid(order, hold);
}

test('the line ends with the last seat, waiting fans hear why, and a seat that comes back finds an empty line', async () => {
  const [ana, ben, eva] = [randomUUID(), randomUUID(), randomUUID()];
  const facts = {
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
  const made = await call('monolith', 'POST', '/ops/matches', staff, {
    body: { ...facts, ...times, max_open_windows: 1, sectors },
    headers: { 'x-mock-roles': 'ops' },
  });
  const [matchId, sectorId] = [made.json.id, made.json.sectors[0].id];
  await until(
    ({ status }) => status === 200,
    () => call('queue', 'GET', `/queue/${matchId}/status`, staff),
  );

  const buying = buy(matchId, sectorId, ana, 2);
  await until(
    ({ status }) => status === 200,
    () => place(matchId, ana),
  );
  await join(matchId, ben);
  await buying;
  expect(
    (
      await until(
        ({ json }) => json.sale.status === 'sold_out',
        () => saleOf(matchId),
      )
    ).json.sale.status,
  ).toBe('sold_out');
  const bens = await until(
    ({ json }) => json.status === 'closed',
    () => place(matchId, ben),
  );
  expect([bens.json.status, bens.json.position]).toEqual(['closed', null]);
  const late = await join(matchId, eva);
  expect([late.status, late.json.code, late.json.reason]).toEqual([409, 'QUEUE_CLOSED', 'sold_out']);

  await services.dataSource.query(
    `with back as (update seats set status = 'available', reservation_id = null
                   where id = (select id from seats where match_id = $1 limit 1) returning id)
     update tickets set status = 'refunded' where seat_id in (select id from back)`,
    [matchId],
  );
  expect(
    (
      await until(
        ({ json }) => json.sale.status === 'open',
        () => saleOf(matchId),
      )
    ).json.sale.status,
  ).toBe('open');
  const { json: reopened } = await until(
    ({ json }) => json.status === 'active',
    () => call('queue', 'GET', `/queue/${matchId}/status`, staff),
  );
  expect(reopened).toMatchObject({ status: 'active', total: 0 });
  await buy(matchId, sectorId, eva, 1);
  expect(
    (
      await until(
        ({ json }) => json.sale.status === 'sold_out',
        () => saleOf(matchId),
      )
    ).json.sale.status,
  ).toBe('sold_out');
});
