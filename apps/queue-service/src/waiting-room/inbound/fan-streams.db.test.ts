import { FanStream } from '../testing/fan-stream.ts';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let service: ServiceFixture;
beforeAll(async () => (service = await serviceFixture()));
afterAll(() => service.close());

test('an event stream sends unnamed events, the current position at once, and ends after the final message', async () => {
  const matchId = await service.match();
  const { token, user } = await service.join(matchId);
  const stream = await FanStream.open(service.url, token, { origin: 'http://localhost:3000' });
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
  expect(stream.response.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  expect(await stream.next('position_update')).toMatchObject({ position: 1, total: 1 });
  expect(stream.text).toMatch(/^retry: 3000\n\n/);
  expect(stream.text).not.toMatch(/^event:/m);

  await service.internal('PUT', `/api/v1/queue/${matchId}/control`, { max_open_windows: 1 });
  await stream.next('turn_granted', 1500);
  await service.internal('POST', `/api/v1/queue/${matchId}/windows/${user}/complete`);
  await stream.next('turn_completed', 1500);
  await stream.ended;
  expect((await service.call('GET', `/sse/${token}`)).status).toBe(404);
});

test('an event stream with an unknown or ended token is 404', async () => {
  expect((await service.call('GET', '/sse/nonsense')).body.code).toBe('NOT_FOUND');
  const matchId = await service.match();
  const { token, user } = await service.join(matchId);
  const stream = await FanStream.open(service.url, token);
  await stream.next('position_update');
  await service.call('DELETE', `/api/v1/queue/${matchId}`, { user });
  await stream.ended;
  expect((await service.call('GET', `/sse/${token}`)).status).toBe(404);
});

test('sockets and event streams of a fan count together: after five, a new stream is 429, a new socket closes the oldest connection', async () => {
  const matchId = await service.match();
  const { token } = await service.join(matchId);
  const first = await FanStream.open(service.url, token);
  await first.next('position_update');
  const sockets = Array.from({ length: 4 }, () => service.socket(token));
  for (const socket of sockets) await socket.next('position_update');
  const refused = await service.call('GET', `/sse/${token}`);
  expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await service.socket(token).next('position_update');
  await first.ended;
});

test('an event stream that the client has closed does not count towards the limit of five connections', async () => {
  const matchId = await service.match();
  const { token } = await service.join(matchId);
  for (let opened = 0; opened < 8; opened += 1) {
    const stream = await FanStream.open(service.url, token);
    await stream.next('position_update');
    stream.close();
    await pause(30);
  }
  const { body } = await service.call('GET', '/metrics');
  expect(body.text).toMatch(/^event_stream_connections 0$/m);
});

test('of twenty streams that a fan requests at the same moment five are opened, and fifteen get 429', async () => {
  const { token } = await service.join(await service.match());
  const streams = await Promise.all(Array.from({ length: 20 }, () => FanStream.open(service.url, token)));
  const statuses = streams.map(({ response }) => response.status).sort();
  expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(429)]);
  for (const stream of streams) stream.close();
});

test('HEAD on an event stream is answered with 200 at once', async () => {
  const { token } = await service.join(await service.match());
  const response = await fetch(`${service.url}/sse/${token}`, { method: 'HEAD' });
  expect(response.status).toBe(200);
});
