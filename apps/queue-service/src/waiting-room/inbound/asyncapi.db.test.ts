import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createTestRedis } from '#testing/test-database';
import type { FanSocket } from '../testing/fan-socket.ts';
import { RedisLink } from '../testing/redis-link.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';
import type { describeSocket } from './asyncapi.ts';

let service: ServiceFixture;
let link: RedisLink;
let server: Awaited<ReturnType<typeof createTestRedis>>;
let document: ReturnType<typeof describeSocket>;

beforeAll(async () => {
  server = await createTestRedis();
  link = await RedisLink.to(server.url);
  service = await serviceFixture({ REDIS_URL: link.url, QUEUE_UPDATE_SECONDS: '1' });
  document = (await service.call('GET', '/asyncapi.json')).body as unknown as typeof document;
});
afterAll(async () => {
  await service.close();
  await link.close();
  await server.close();
});

const control = (matchId: string, body: object) => service.internal('PUT', `/api/v1/queue/${matchId}/control`, body);

/** Every kind of message there is, and the codes fans were closed with, from the service as it runs. */
async function everythingSaid(): Promise<{ messages: { type: string }[]; codes: number[] }> {
  const sockets: FanSocket[] = [];
  const fan = async (matchId: string) => {
    const { user, token } = await service.join(matchId);
    const socket = service.socket(token);
    sockets.push(socket);
    await socket.next('position_update');
    return { user, token, socket };
  };
  const matchId = await service.match({ status: 'paused', reason: 'floodlights' });
  const [buyer, leaver, patient] = [await fan(matchId), await fan(matchId), await fan(matchId)];
  buyer.socket.send({ type: 'heartbeat' });
  buyer.socket.send({ type: 'cheer' });
  await buyer.socket.next('error');
  await service.internal('POST', `/api/v1/queue/${matchId}/sold-out`, {
    remaining_sectors: [{ sector_id: randomUUID(), name: 'Istok', available: 3 }],
  });
  await control(matchId, { status: 'active', max_open_windows: 1 });
  await buyer.socket.next('turn_granted');
  await service.internal('POST', `/api/v1/queue/${matchId}/windows/${buyer.user}/complete`);
  await service.call('DELETE', `/api/v1/queue/${matchId}`, { user: leaver.user });
  for (let device = 0; device < 5; device += 1) {
    const further = service.socket(patient.token);
    sockets.push(further);
    await further.opened();
    await further.next(device < 2 ? 'position_update' : 'turn_granted').catch(() => undefined);
  }
  await control(matchId, { status: 'closed' });
  await patient.socket.ended;

  const rude = await service.match();
  const [loud, odd, long] = [await fan(rude), await fan(rude), await fan(rude)];
  for (let message = 0; message < 12; message += 1) loud.socket.send({ type: 'heartbeat' });
  odd.socket.send('no JSON');
  long.socket.send('x'.repeat(5000));
  await Promise.all([loud, odd, long].map(({ socket }) => socket.ended));
  const stranger = service.socket('nonsense');
  sockets.push(stranger);
  await stranger.ended;
  // An expired window: its end is moved into the past.
  const late = await service.match({ max_open_windows: 1 });
  const { token, user } = await service.join(late);
  const socket = service.socket(token);
  sockets.push(socket);
  await socket.next('turn_granted');
  await service.redis.zadd(`queue_window_ends:{${late}}`, 1, user);
  await socket.ended;
  const last = await fan(await service.match());
  link.cut();
  await last.socket.next('delayed', 8000);
  link.mend();
  await last.socket.next('position_update', 8000);
  await service.stop();
  const ends = await Promise.all(sockets.map(({ ended }) => ended));
  return { messages: sockets.flatMap(({ heard }) => heard), codes: [...new Set(ends.map(({ code }) => code))].sort() };
}

test('the running service says all that the document describes, and nothing else', async () => {
  expect(document.asyncapi).toBe('3.0.0');
  const { messages, codes } = await everythingSaid();
  const described = Object.keys(document.channels.socket.messages).filter((name) => name !== 'heartbeat');
  expect([...new Set(messages.map(({ type }) => type))].sort()).toEqual(described.sort());
  expect(codes.map(String)).toEqual(Object.keys(document['x-close-codes']).sort());
  const components = document.components.messages as Record<string, { payload: Parameters<typeof z.fromJSONSchema>[0] }>;
  const schemas = Object.fromEntries(described.map((name) => [name, z.fromJSONSchema(components[name]!.payload)]));
  const misfits = messages.filter((message) => !schemas[message.type]!.safeParse(message).success);
  expect(misfits).toEqual([]);
  // A later version may tell more: who reads by these schemas ignores it.
  const told = messages.map((message) => ({ ...message, added_later: { deep: 1 } }));
  expect(told.filter((message) => !schemas[message.type]!.safeParse(message).success)).toEqual([]);
  // The schemas can tell: without its position an update does not fit.
  expect(schemas.position_update!.safeParse({ type: 'position_update', total: 3 }).success).toBe(false);
});

test('every reference in it leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  expect(references.length).toBeGreaterThan(10);
  const found = references.map((path) =>
    path.split('/').reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document),
  );
  expect(found.filter((part) => part === undefined)).toEqual([]);
});
