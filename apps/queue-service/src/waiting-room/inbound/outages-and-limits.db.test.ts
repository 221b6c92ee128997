import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { createTestRedis } from '#testing/test-database';
import { TcpProxy } from '#testing/tcp-proxy';
import { pause } from '../testing/line-fixture.ts';
import { RedisLink } from '../testing/redis-link.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

describe('while Redis does not answer', () => {
  let service: ServiceFixture;
  let link: RedisLink;
  let server: Awaited<ReturnType<typeof createTestRedis>>;

  beforeAll(async () => {
    server = await createTestRedis();
    link = await RedisLink.to(server.url);
    service = await serviceFixture({ REDIS_URL: link.url, RATE_LIMIT_IP_PER_MINUTE: '1000' });
  });
  afterAll(async () => {
    await service.close();
    await link.close();
    await server.close();
  });

  test.each(['cut', 'silence'] as const)(
    'outage `%s`: REST is 503 within two seconds, sockets stay open and get `delayed`, and after the outage sockets get positions again',
    async (outage) => {
      const matchId = await service.match();
      const { user, token } = await service.join(matchId);
      const socket = service.socket(token);
      await socket.next('position_update');
      link[outage]();
      const startedAt = performance.now();
      const answers = await Promise.all([
        service.call('GET', `/api/v1/queue/${matchId}/position`, { user }),
        service.call('POST', `/api/v1/queue/${matchId}/join`, { user }),
        service.call('DELETE', `/api/v1/queue/${matchId}`, { user: randomUUID() }),
        service.call('GET', `/api/v1/queue/${matchId}/status`),
        service.call('GET', `/sse/${token}`),
      ]);
      expect(performance.now() - startedAt).toBeLessThan(2000);
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(5).fill([503, 'DEPENDENCY_UNAVAILABLE']));
      await socket.next('delayed', 5000);
      expect((await service.call('GET', '/health/ready')).body).toEqual({ status: 'down', down: ['redis'] });
      // During the outage a new socket is accepted and gets `delayed`, and heartbeats are acknowledged.
      const newcomer = service.socket(token);
      await newcomer.next('delayed', 5000);
      newcomer.send({ type: 'heartbeat' });
      await newcomer.next('heartbeat_ack');

      link.restore();
      expect(await socket.next('position_update', 8000)).toMatchObject({ position: 1 });
      expect(await newcomer.next('position_update', 8000)).toMatchObject({ position: 1 });
      expect(socket.heard.filter(({ type }) => type === 'delayed')).toHaveLength(1);
      expect((await service.call('GET', '/health/ready')).status).toBe(200);
    },
  );

  test('after a loss of all data in Redis sockets are closed with 4501, so that fans join again', async () => {
    const matchId = await service.match();
    const { token } = await service.join(matchId);
    const socket = service.socket(token);
    await socket.next('position_update');
    await service.redis.flushdb();
    expect((await socket.ended).code).toBe(4501);
  });
});

describe('the connection limits of a pod', () => {
  test('requests for sockets and event streams count towards the rate limit of an IP address, like all requests', async () => {
    const service = await serviceFixture({ RATE_LIMIT_IP_PER_MINUTE: '6' });
    try {
      const { token } = await service.join(await service.match());
      for (let upgrade = 0; upgrade < 5; upgrade += 1) await service.socket(token).next('position_update');
      const refused = await service.socket(token).ended;
      expect([refused.status, Number(refused.headers!['retry-after']) > 0]).toEqual([429, true]);
      expect((await service.call('GET', `/sse/${token}`)).body.code).toBe('RATE_LIMITED');
      expect((await service.call('GET', '/health/live')).status).toBe(200);
    } finally {
      await service.close();
    }
  });

  test('a full pod refuses sockets and event streams with 503 and Retry-After, and accepts a new one when a connection has closed', async () => {
    const service = await serviceFixture({ QUEUE_MAX_CONNECTIONS: '2' });
    try {
      const matchId = await service.match();
      const fans = [await service.join(matchId), await service.join(matchId), await service.join(matchId)];
      const sockets = fans.slice(0, 2).map(({ token }) => service.socket(token));
      for (const socket of sockets) await socket.next('position_update');
      const refused = await service.socket(fans[2]!.token).ended;
      expect(refused.status).toBe(503);
      expect(Number(refused.headers!['retry-after'])).toBeGreaterThan(0);
      const stream = await service.call('GET', `/sse/${fans[2]!.token}`);
      expect([stream.status, stream.headers.has('retry-after')]).toEqual([503, true]);
      sockets[0]!.terminate();
      await pause(50);
      await service.socket(fans[2]!.token).next('position_update');
    } finally {
      await service.close();
    }
  });

  test('event streams requested at the same moment do not exceed the connection limit', async () => {
    const service = await serviceFixture({ QUEUE_MAX_CONNECTIONS: '2' });
    try {
      const matchId = await service.match();
      const fans = await Promise.all(Array.from({ length: 10 }, () => service.join(matchId)));
      const stop = new AbortController();
      const answers = await Promise.all(fans.map(({ token }) => fetch(`${service.url}/sse/${token}`, { signal: stop.signal })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, ...Array(8).fill(503)]);
      stop.abort();
    } finally {
      await service.close();
    }
  });

  test('an event stream whose client disconnects before the start is not counted as open', async () => {
    const server = await createTestRedis();
    const proxy = await TcpProxy.inFrontOf(server.url);
    const service = await serviceFixture({ REDIS_URL: proxy.url });
    try {
      const { token } = await service.join(await service.match());
      proxy.delayMs = 50;
      const { hostname, port } = new URL(service.url);
      for (let reader = 0; reader < 5; reader += 1) {
        const socket = net.connect(Number(port), hostname);
        socket.write(`GET /sse/${token} HTTP/1.1\r\nHost: x\r\n\r\n`);
        await pause(30);
        socket.resetAndDestroy();
      }
      await pause(300);
      expect((await service.call('GET', '/metrics')).body.text).toMatch(/^event_stream_connections 0$/m);
    } finally {
      proxy.delayMs = 0;
      await service.close();
      await proxy.close();
      await server.close();
    }
  });

  test('a pod that shuts down closes all sockets with 4000, each with a different retry delay, and stops within four seconds', async () => {
    const service = await serviceFixture();
    try {
      const matchId = await service.match();
      const sockets = [];
      for (let fan = 0; fan < 30; fan += 1) {
        const { token } = await service.join(matchId);
        sockets.push(service.socket(token));
        await sockets.at(-1)!.next('position_update');
      }
      const startedAt = performance.now();
      const stopped = service.stop();
      const ends = await Promise.all(sockets.map(({ ended }) => ended));
      expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([4000]));
      const delays = ends.map(({ reason }) => (JSON.parse(reason) as { retry_after_ms: number }).retry_after_ms);
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(500);
      expect(Math.max(...delays)).toBeLessThan(30_000);
      expect(new Set(delays).size).toBeGreaterThan(25);
      await stopped;
      expect(performance.now() - startedAt).toBeLessThan(4000);
      // All queue entries are kept, so the fans can reconnect to other pods.
      expect(await service.redis.zcard(`queue:{${matchId}}`)).toBe(30);
    } finally {
      await service.close();
    }
  });
});

describe('two pods', () => {
  test('a fan with one device on each pod gets the same messages on each device', async () => {
    const server = await createTestRedis();
    const [firstPod, secondPod] = [
      await serviceFixture({ REDIS_URL: server.url }),
      await serviceFixture({ REDIS_URL: server.url }),
    ];
    try {
      const matchId = await firstPod.match();
      const { token, user } = await firstPod.join(matchId);
      const [phone, tablet] = [firstPod.socket(token), secondPod.socket(token)];
      await phone.next('position_update');
      await tablet.next('position_update');
      await firstPod.internal('PUT', `/api/v1/queue/${matchId}/control`, { max_open_windows: 1 });
      const [first, second] = [await phone.next('turn_granted', 1500), await tablet.next('turn_granted', 1500)];
      expect(first).toEqual(second);
      await secondPod.call('DELETE', `/api/v1/queue/${matchId}`, { user });
      expect([(await phone.ended).code, (await tablet.ended).code]).toEqual([4505, 4505]);
    } finally {
      await firstPod.close();
      await secondPod.close();
      await server.close();
    }
  });
});
