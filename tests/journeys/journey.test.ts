import { jest } from '@jest/globals';
import { launchBrowser, type LaunchedBrowser } from './browser.ts';
import {
  buyOnThePage,
  chooseOnThePage,
  reopenSectorOnThePage,
  loseTheNetworkOnThePage,
  operateOnThePage,
  getLostOnThePage,
  searchOnThePage,
  type JourneyContext,
} from './browser-journeys.ts';
import { Fan, newKey, pollUntil, type Answer } from './fan.ts';
import { startSystem, type StartedSystem } from './started-system.ts';

// Starts the whole system with `npm start`, with its own PostgreSQL and Redis, and uses it like a fan: first by API and socket, then
// in a real browser. The order of the tests matters: the last test restarts the system.
jest.setTimeout(120_000);

interface Match {
  id: string;
  queue_required: boolean;
  sale: { status: string };
}
interface Reservation {
  id: string;
  status: string;
  seats: { seat_id: string; sector: string; row: string; number: number }[];
  expires_at: string;
}
interface Order {
  status: string;
  tickets: { id: string; status: string }[];
  timeline: { event: string }[];
}
interface Mail {
  items: { template: string; subject: string; text: string; to: string }[];
}

let system: StartedSystem;
const matches: { withQueue: string; direct: string } = { withQueue: '', direct: '' };
let firstJoin: Answer;

beforeAll(async () => {
  // The rate limit for IP addresses is off, because all fans have the same address.
  system = await startSystem({ RATE_LIMIT_IP_PER_MINUTE: '0' });
  const fan = new Fan(system);
  const { body } = await fan.call<{ items: Match[] }>('GET', '/matches');
  matches.withQueue = body.items.find(({ queue_required }) => queue_required)?.id ?? '';
  matches.direct = body.items.find(({ queue_required }) => !queue_required)?.id ?? '';
  firstJoin = await fan.queue('POST', matches.withQueue, '/join');
  await fan.queue('DELETE', matches.withQueue);
});

afterAll(async () => {
  await system?.stop();
});

async function waitForTurn(fan: Fan): Promise<string> {
  const { body } = await fan.queue<{ websocket_url: string }>('POST', matches.withQueue, '/join');
  const messages = await fan.receiveUntil(body.websocket_url, 'turn_granted');
  return String(messages.at(-1)?.session_token);
}

async function hold(
  fan: Fan,
  matchId: string,
  quantity: number,
  headers: Record<string, string> = {},
): Promise<Answer<Reservation>> {
  const sectors = await fan.call<{ items: { id: string }[] }>('GET', `/matches/${matchId}/sectors`);
  return fan.call('POST', `/matches/${matchId}/reservations`, { sector_id: sectors.body.items[0]?.id, quantity }, headers);
}

function checkOut(
  fan: Fan,
  reservation: Reservation,
  email: string,
): Promise<Answer<{ order_id: string; payment: { confirm_url: string } }>> {
  const holders = reservation.seats.map(({ seat_id }, index) => ({ seat_id, name: `Ana Horvat ${index + 1}` }));
  return fan.call('POST', `/reservations/${reservation.id}/checkout`, { holders, email });
}

test('npm start prints one ready line with the public address, and every service is ready', async () => {
  expect(system.output().match(/^ready .*$/gm)).toHaveLength(1);
  expect(system.output()).toContain(system.publicUrl);
  for (const url of [system.publicUrl, system.queueUrl, system.workerUrl])
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
});

test('a fan can join the line as soon as npm start has printed the ready line', () => {
  expect(firstJoin).toMatchObject({ status: 201, body: { position: 1 } });
});

test('a fan waits, gets a turn, holds two adjacent seats and pays: the fan gets two tickets, mails and pushes, and the turn ends', async () => {
  const fan = new Fan(system);
  await fan.call('PUT', '/me/devices/phone', { fcm_token: `token-${fan.id}` });
  const startedAt = Date.now();
  const session = await waitForTurn(fan);
  expect(Date.now() - startedAt).toBeLessThan(2000);

  expect((await hold(fan, matches.withQueue, 2)).body).toMatchObject({ code: 'PURCHASE_WINDOW_REQUIRED' });
  const held = await hold(fan, matches.withQueue, 2, { 'x-purchase-session': session });
  expect(held.status).toBe(201);
  const [first, second] = held.body.seats;
  expect([second?.row, second?.number]).toEqual([first?.row, (first?.number ?? 0) + 1]);

  const email = `${fan.id}@example.com`;
  const checkedOut = await checkOut(fan, held.body, email);
  expect(checkedOut.status).toBe(201);
  expect((await checkOut(fan, held.body, email)).body.order_id).toBe(checkedOut.body.order_id);
  const confirmed = await fetch(checkedOut.body.payment.confirm_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ outcome: 'succeeded' }),
  });
  expect(confirmed.status).toBe(202);

  const order = await pollUntil(
    () => fan.call<Order>('GET', `/orders/${checkedOut.body.order_id}`),
    ({ body }) => body.status === 'completed',
  );
  expect(order.body.tickets).toHaveLength(2);
  expect(order.body.timeline.map(({ event }) => event)).toEqual(['created', 'payment_succeeded', 'completed']);
  const qr = await fan.call<string>('GET', `/tickets/${order.body.tickets[0]?.id}/qr.svg`);
  expect(qr.body).toContain('<svg');
  expect((await new Fan(system).call('GET', `/tickets/${order.body.tickets[0]?.id}`)).status).toBe(404);

  const mails = await pollUntil(
    () => fan.call<Mail>('GET', `${system.workerUrl}/mailbox?to=${email}`),
    ({ body }) => body.items.length >= 2,
  );
  expect(mails.body.items.map(({ template }) => template).sort()).toEqual(['order_confirmation', 'ticket_delivery']);
  const pushes = await pollUntil(
    () => fan.call<Mail>('GET', `${system.workerUrl}/mailbox?to=token-${fan.id}`),
    ({ body }) => body.items.length >= 2,
  );
  expect(pushes.body.items.map(({ template }) => template).sort()).toEqual(['queue_your_turn', 'ticket_delivery']);
  const position = await pollUntil(
    () => fan.queue<{ status: string }>('GET', matches.withQueue, '/position'),
    ({ body }) => body.status === 'completed',
  );
  expect(position.body).toMatchObject({ status: 'completed', position: null });
});

test('a hold request that is sent again with the same idempotency key gets the same answer and has no second effect', async () => {
  const fan = new Fan(system);
  const headers = { 'idempotency-key': newKey() };
  const first = await hold(fan, matches.direct, 3, headers);
  const repeated = await hold(fan, matches.direct, 3, headers);
  expect([first.status, repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
  expect(repeated.body).toEqual(first.body);
  expect((await fan.call('DELETE', `/reservations/${first.body.id}`)).status).toBe(204);
  expect((await fan.call<Reservation>('GET', `/reservations/${first.body.id}`)).body.status).toBe('released');
});

test('a fan can pay after a declined payment, and a sold seat cannot be held again', async () => {
  const fan = new Fan(system);
  const held = await hold(fan, matches.direct, 1);
  const { body } = await checkOut(fan, held.body, 'ivo@example.com');
  const confirm = (outcome: string) =>
    fetch(body.payment.confirm_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ outcome }),
    });
  await confirm('failed');
  const order = () => fan.call<Order>('GET', `/orders/${body.order_id}`);
  await pollUntil(order, (answer) => answer.body.timeline.some(({ event }) => event === 'payment_failed'));
  await confirm('succeeded');
  expect((await pollUntil(order, (answer) => answer.body.status === 'completed')).body.tickets).toHaveLength(1);
  const taken = await fan.call('POST', `/matches/${matches.direct}/reservations`, { seat_ids: [held.body.seats[0]?.seat_id] });
  expect(taken.body).toMatchObject({ code: 'SEATS_UNAVAILABLE', seat_ids: [held.body.seats[0]?.seat_id] });
});

test('when an operator pauses and resumes the sale, the line pauses and grants turns again', async () => {
  const ops = new Fan(system, 'ops');
  const sale = (action: string) =>
    ops.call('POST', `/ops/matches/${matches.withQueue}/sale`, { action, reason: 'checking the turnstiles' });
  expect((await new Fan(system).call('POST', `/ops/matches/${matches.withQueue}/sale`, { action: 'pause' })).status).toBe(403);
  expect((await sale('pause')).body).toMatchObject({ sale: { status: 'paused' } });
  const waitingFan = new Fan(system);
  const { body } = await waitingFan.queue<{ status: string; websocket_url: string }>('POST', matches.withQueue, '/join');
  expect(body.status).toBe('waiting');
  const messages = await waitingFan.receiveUntil(body.websocket_url, 'position_update');
  expect(messages[0]).toMatchObject({ paused: true, reason: 'checking the turnstiles' });
  const turn = waitingFan.receiveUntil(body.websocket_url, 'turn_granted');
  expect((await sale('resume')).status).toBe(200);
  await turn;
  await waitingFan.queue('DELETE', matches.withQueue);
  const report = await ops.call<{ capacity: number; available: number; held: number; sold: number; blocked: number }>(
    'GET',
    `/ops/matches/${matches.withQueue}/report`,
  );
  const { capacity, available, held, sold, blocked } = report.body;
  expect(available + held + sold + blocked).toBe(capacity);
});

test('CLI commands work on the running system, and wrong usage exits with 2', async () => {
  const status = await system.cli('status', '--json');
  expect([status.code, JSON.parse(status.stdout)]).toMatchObject([0, { postgresql: true, redis: true }]);
  expect((await system.cli('outbox:consume', '--until-empty', '--limit', '10')).stdout).toContain('relayed');
  expect(JSON.parse((await system.cli('search:rebuild', '--json')).stdout)).toMatchObject({ complete: true, indexed: 2 });
  expect((await system.cli('search:rebuild', '--fast')).code).toBe(2);
  expect((await system.cli('migrat')).code).toBe(2);
  expect((await system.cli('outbox:consume', '--limit', '-1')).code).toBe(2);
  const crowd = await system.cli('demo:crowd', '30', '--time-limit', '4');
  expect(crowd.stdout).toContain('30 joined');
});

describe('web page in a real browser', () => {
  let launched: LaunchedBrowser | undefined;
  let context: JourneyContext;
  beforeAll(async () => {
    launched = await launchBrowser();
    context = { browser: launched.browser, system, matches };
  });
  afterAll(() => launched?.close());

  test('on a phone a fan queues, holds seats and pays: the page shows tickets with QR codes and the same prices as the API', () =>
    buyOnThePage(context));
  test('on a large screen a fan chooses seats on the map and pays after one failed payment', () => chooseOnThePage(context));
  test('the page repeats a hold whose answer was lost and a checkout request that was lost: there is one hold and one order', () =>
    loseTheNetworkOnThePage(context));
  test('when a fan opens a sector again, the page loads only the changed seats and shows them', () =>
    reopenSectorOnThePage(context));
  test('an operator pauses the sale, blacklists a fan, refunds a ticket and cancels the match', () => operateOnThePage(context));
  test('with eleven matches fans and operators can search them, without accents, and are told when nothing is found', () =>
    searchOnThePage(context));
  test('an unknown address is 404 with the page, which says so in the reader’s language and leads back to the matches', () =>
    getLostOnThePage(context));
});

test('after a restart of the whole system a hold still exists', async () => {
  const fan = new Fan(system);
  const held = await hold(fan, matches.direct, 2);
  await system.restart();
  expect((await fan.call<Reservation>('GET', `/reservations/${held.body.id}`)).body).toEqual(held.body);
  expect((await fan.call('DELETE', `/reservations/${held.body.id}`)).status).toBe(204);
});
