import { serviceFixture, type ServiceFixture } from '../../apps/queue-service/src/waiting-room/testing/service-fixture.ts';
import type { FanSocket } from '../../apps/queue-service/src/waiting-room/testing/fan-socket.ts';
import { FanStream } from '../../apps/queue-service/src/waiting-room/testing/fan-stream.ts';

// Attack: the accounts of one address open as many sockets as a pod may hold, so that no other fan can connect.

const MAX_CONNECTIONS = 100;
const ATTACKER = '203.0.113.7';

let service: ServiceFixture;
let matchId: string;
let tokens: string[];

beforeAll(async () => {
  service = await serviceFixture({ QUEUE_MAX_CONNECTIONS: String(MAX_CONNECTIONS), TRUSTED_PROXIES: '127.0.0.1/32' });
  matchId = await service.match();
  tokens = await Promise.all(Array.from({ length: 40 }, async () => (await service.join(matchId)).token));
});
afterAll(() => service.close());

const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

let accepted = 0;
const attacking: FanSocket[] = [];

/** Opens a socket of the next account. Resolves with 101, or with the status and Retry-After of the refusal. */
async function connect(address: string): Promise<{ status: number; retryAfter?: number }> {
  // Each account has five sockets.
  const socket = service.socket(tokens[Math.floor(accepted / 5)]!, from(address));
  if (address === ATTACKER) attacking.push(socket);
  const opened = await socket.opened().then(
    () => ({ status: 101 }),
    () => undefined,
  );
  if (opened) accepted += 1;
  if (opened) return opened;
  const { status, headers } = await socket.ended;
  return { status: status ?? 0, retryAfter: Number(headers?.['retry-after']) };
}

test('the sockets of one address fill at most 80 % of a pod; fans of other addresses still connect, by socket and by stream', async () => {
  const statuses: number[] = [];
  for (let at = 0; at < 2 * MAX_CONNECTIONS; at += 1) statuses.push((await connect(ATTACKER)).status);
  // The connection that makes the pod more than 80 % full is the last one.
  expect(accepted).toBe(MAX_CONNECTIONS * 0.8 + 1);
  expect(statuses.slice(accepted)).toEqual(Array(2 * MAX_CONNECTIONS - accepted).fill(503));

  const refused = await connect(ATTACKER);
  expect(refused.retryAfter).toBeGreaterThan(0);
  const stream = await service.call('GET', `/sse/${tokens[39]!}`, { headers: from(ATTACKER) });
  expect([stream.status, stream.body.code, stream.headers.has('retry-after')]).toEqual([503, 'DEPENDENCY_UNAVAILABLE', true]);
  // The same address in another notation is the same address.
  expect((await connect(`::ffff:${ATTACKER}`)).status).toBe(503);

  for (let fan = 1; fan <= 8; fan += 1) expect((await connect(`198.51.100.${fan}`)).status).toBe(101);
  const streamOfFan = await FanStream.open(service.url, tokens[38]!, from('198.51.100.9'));
  expect(streamOfFan.response.status).toBe(200);
  streamOfFan.close();
});

test('an IPv6 customer counts by the /64 network, and closed connections do not count', async () => {
  // The pod is more than 80 % full. Five connections are more than 5 % of those that it holds, four are not.
  const statuses: number[] = [];
  for (let host = 1; host <= 7; host += 1) statuses.push((await connect(`2001:db8:0:1::${host}`)).status);
  expect(statuses).toEqual([101, 101, 101, 101, 101, 503, 503]);
  expect((await connect('2001:db8:0:2::1')).status).toBe(101);

  const before = await openSockets();
  for (const socket of attacking.slice(0, 30)) socket.terminate();
  while ((await openSockets()) > before - 30) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await connect(ATTACKER)).status).toBe(101);
});

async function openSockets(): Promise<number> {
  const { body } = await service.call('GET', '/metrics');
  return Number(/^websocket_connections (\d+)$/m.exec(body.text as string)?.[1]);
}
