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

/** Makes the running service send every kind of message and every close code. Returns these messages and codes. */
async function collectMessagesAndCodes(): Promise<{ messages: { type: string }[]; codes: number[] }> {
  const sockets: FanSocket[] = [];
  const fan = async (matchId: string) => {
    const { user, token } = await service.join(matchId);
    const socket = service.socket(token);
    sockets.push(socket);
    await socket.next('position_update');
    return { user, token, socket };
  };
  const matchId = await service.match({ status: 'paused', reason: 'floodlights' });
  const [buyer, leaver, waiter] = [await fan(matchId), await fan(matchId), await fan(matchId)];
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
  for (let index = 0; index < 5; index += 1) {
    const device = service.socket(waiter.token);
    sockets.push(device);
    await device.opened();
    await device.next(index < 2 ? 'position_update' : 'turn_granted').catch(() => undefined);
  }
  await control(matchId, { status: 'closed' });
  await waiter.socket.ended;

  const faultyMatch = await service.match();
  const [flooding, notJson, tooLong] = [await fan(faultyMatch), await fan(faultyMatch), await fan(faultyMatch)];
  for (let message = 0; message < 12; message += 1) flooding.socket.send({ type: 'heartbeat' });
  notJson.socket.send('no JSON');
  tooLong.socket.send('x'.repeat(5000));
  await Promise.all([flooding, notJson, tooLong].map(({ socket }) => socket.ended));
  const stranger = service.socket('nonsense');
  sockets.push(stranger);
  await stranger.ended;
  // To let a window expire, the test moves the end of the window into the past.
  const expiringMatch = await service.match({ max_open_windows: 1 });
  const { token, user } = await service.join(expiringMatch);
  const socket = service.socket(token);
  sockets.push(socket);
  await socket.next('turn_granted');
  await service.redis.zadd(`queue_window_ends:{${expiringMatch}}`, 1, user);
  await socket.ended;
  const last = await fan(await service.match());
  link.cut();
  await last.socket.next('delayed', 8000);
  link.restore();
  await last.socket.next('position_update', 8000);
  await service.stop();
  const ends = await Promise.all(sockets.map(({ ended }) => ended));
  return { messages: sockets.flatMap(({ heard }) => heard), codes: [...new Set(ends.map(({ code }) => code))].sort() };
}

test('the running service sends exactly the messages and close codes that the AsyncAPI document describes', async () => {
  expect(document.asyncapi).toBe('3.0.0');
  const { messages, codes } = await collectMessagesAndCodes();
  const described = Object.keys(document.channels.socket.messages).filter((name) => name !== 'heartbeat');
  expect([...new Set(messages.map(({ type }) => type))].sort()).toEqual(described.sort());
  expect(codes.map(String)).toEqual(Object.keys(document['x-close-codes']).sort());
  const components = document.components.messages as Record<
    string,
    { payload: Parameters<typeof z.fromJSONSchema>[0]; examples: { payload: { type: string } }[] }
  >;
  const schemas = Object.fromEntries(described.map((name) => [name, z.fromJSONSchema(components[name]!.payload)]));
  const mismatches = messages.filter((message) => !schemas[message.type]!.safeParse(message).success);
  expect(mismatches).toEqual([]);
  // A later version may add members: clients that validate with these schemas must ignore them.
  const withNewMember = messages.map((message) => ({ ...message, added_later: { deep: 1 } }));
  expect(withNewMember.filter((message) => !schemas[message.type]!.safeParse(message).success)).toEqual([]);
  // Each example is a message that the service really sends: the same type with the same fields.
  const fieldsOf = (message: object): string => Object.keys(message).sort().join();
  const sent = new Set(messages.map(fieldsOf));
  const examples = described.flatMap((name) => components[name]!.examples.map(({ payload }) => payload));
  expect(examples.filter((example) => !schemas[example.type]!.safeParse(example).success)).toEqual([]);
  expect(examples.filter((example) => !sent.has(fieldsOf(example)))).toEqual([]);
  expect(sent.has(fieldsOf({ type: 'position_update', place: 3 }))).toBe(false);
  // Check that the schemas reject something: a position update without a position does not match.
  expect(schemas.position_update!.safeParse({ type: 'position_update', total: 3 }).success).toBe(false);
});

test('every $ref in the AsyncAPI document points to an existing part', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
  expect(references.length).toBeGreaterThan(10);
  const found = references.map((path) =>
    path.split('/').reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], document),
  );
  expect(found.filter((part) => part === undefined)).toEqual([]);
});
