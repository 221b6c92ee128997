import { randomBytes, randomUUID } from 'node:crypto';
import net from 'node:net';
import { serverMessage } from '#contracts/socket-messages';
import { pause } from '../testing/line-fixture.ts';
import { serviceFixture, type ServiceFixture } from '../testing/service-fixture.ts';

let service: ServiceFixture;
beforeAll(async () => (service = await serviceFixture({ QUEUE_UPDATE_SECONDS: '1', CORS_ORIGINS: 'https://shop.example' })));
afterAll(() => service.close());

const control = (matchId: string, body: object) => service.internal('PUT', `/api/v1/queue/${matchId}/control`, body);

async function connectedFan(matchId: string) {
  const fan = await service.join(matchId);
  const socket = service.socket(fan.token);
  await socket.next('position_update');
  return { ...fan, socket };
}

describe('messages to a fan on a socket', () => {
  test('on connecting the fan gets the current position at once, as #contracts/socket-messages defines it', async () => {
    const matchId = await service.match();
    const { socket } = await connectedFan(matchId);
    expect(serverMessage.parse(socket.heard[0])).toMatchObject({
      type: 'position_update',
      position: 1,
      total: 1,
      estimated_wait_minutes: null,
    });
  });

  test('a heartbeat is acknowledged, a message of an unknown type gets an error message, and the connection stays open', async () => {
    const { socket } = await connectedFan(await service.match());
    socket.send({ type: 'heartbeat' });
    await socket.next('heartbeat_ack');
    socket.send({ type: 'cheer' });
    expect(await socket.next('error')).toEqual({ type: 'error', code: 'UNKNOWN_MESSAGE_TYPE' });
    socket.send({ type: 'heartbeat' });
    await socket.next('heartbeat_ack');
  });

  test('the fan gets the position regularly, and at once when a fan in front leaves', async () => {
    const matchId = await service.match();
    const first = await service.join(matchId);
    const { socket } = await connectedFan(matchId);
    expect(await socket.next('position_update', 1200)).toMatchObject({ position: 2, total: 2 });
    await service.call('DELETE', `/api/v1/queue/${matchId}`, { user: first.user });
    for (;;) if ((await socket.next('position_update', 1200)).position === 1) break;
  });

  test('the fan gets a message about a pause with its reason, and about the end of the pause, within a second', async () => {
    const matchId = await service.match();
    const { socket } = await connectedFan(matchId);
    await control(matchId, { status: 'paused', reason: 'floodlights' });
    for (;;) {
      const message = await socket.next('position_update', 1000);
      if (message.paused) {
        expect(message).toMatchObject({ reason: 'floodlights', estimated_wait_minutes: null });
        break;
      }
    }
    await control(matchId, { status: 'active' });
    for (;;) if (!(await socket.next('position_update', 1000)).paused) break;
  });

  test('the fan gets the remaining sectors when the monolith reports them', async () => {
    const matchId = await service.match();
    const { socket } = await connectedFan(matchId);
    const remaining_sectors = [{ sector_id: randomUUID(), name: 'Istok', available: 12 }];
    await service.internal('POST', `/api/v1/queue/${matchId}/sold-out`, { remaining_sectors });
    for (;;) if ((await socket.next('position_update', 1000)).remaining_sectors) break;
    expect(socket.heard.at(-1)).toMatchObject({ remaining_sectors });
  });

  test('the fan gets the turn within a second after a window is free, then turn_completed and close 4506', async () => {
    const matchId = await service.match();
    const { socket, user, token } = await connectedFan(matchId);
    await control(matchId, { max_open_windows: 1 });
    const granted = serverMessage.parse(await socket.next('turn_granted', 1000));
    const { body } = await service.call('GET', `/api/v1/queue/${matchId}/position`, { user });
    expect(granted).toMatchObject({ session_token: body.session_token, checkout_url: body.checkout_url });
    // A device that connects after the grant gets the same message turn_granted.
    const tablet = service.socket(token);
    expect(await tablet.next('turn_granted')).toEqual(granted);
    await service.internal('POST', `/api/v1/queue/${matchId}/windows/${user}/complete`);
    for (const device of [socket, tablet]) {
      await device.next('turn_completed', 1000);
      expect((await device.ended).code).toBe(4506);
    }
    // A new connection with the ended token gets the final message turn_completed too.
    const late = service.socket(token);
    await late.next('turn_completed');
    expect((await late.ended).code).toBe(4506);
  });

  test.each([
    ['sold out', { path: 'sold-out', method: 'POST', body: { remaining_sectors: [] } }, 'sold_out'],
    ['closed', { path: 'control', method: 'PUT', body: { status: 'closed' } }, 'closed'],
  ])(
    'when the queue is %s, all devices get queue_closed with the reason, then close code 4506',
    async (_what, { path, method, body }, reason) => {
      const matchId = await service.match();
      const { socket, token } = await connectedFan(matchId);
      const tablet = service.socket(token);
      await tablet.next('position_update');
      await service.internal(method, `/api/v1/queue/${matchId}/${path}`, body);
      for (const device of [socket, tablet]) {
        expect(await device.next('queue_closed', 1000)).toEqual({ type: 'queue_closed', reason });
        expect((await device.ended).code).toBe(4506);
      }
    },
  );

  test('when the queue is closed, a fan with an open window gets queue_closed and close 4506', async () => {
    const matchId = await service.match({ max_open_windows: 1 });
    const { token } = await service.join(matchId);
    const socket = service.socket(token);
    await socket.next('turn_granted');
    await control(matchId, { status: 'closed' });
    expect(await socket.next('queue_closed', 1000)).toEqual({ type: 'queue_closed', reason: 'closed' });
    expect((await socket.ended).code).toBe(4506);
  });

  test('when the fan leaves on one device, all devices of the fan are closed with 4505', async () => {
    const matchId = await service.match();
    const { socket, token, user } = await connectedFan(matchId);
    const tablet = service.socket(token);
    await tablet.next('position_update');
    await service.call('DELETE', `/api/v1/queue/${matchId}`, { user });
    expect([(await socket.ended).code, (await tablet.ended).code]).toEqual([4505, 4505]);
    expect((await service.socket(token).ended).code).toBe(4505);
  });

  test('when the publication of a change is lost, the next regular update sends the new state', async () => {
    const matchId = await service.match();
    const { socket, user } = await connectedFan(matchId);
    // Remove the fan from the line without a publication, as if the publication were lost.
    await service.redis.zrem(`queue:{${matchId}}`, user);
    await service.redis.set(`queue_ended:${user}:{${matchId}}`, '{"status":"closed","reason":"sold_out"}');
    await socket.next('queue_closed', 2500);
    expect((await socket.ended).code).toBe(4506);
  });
});

describe('upgrades to a socket', () => {
  test.each([
    ['a token never issued', () => `qt_${randomBytes(32).toString('base64url')}`],
    ['a text that is not a token', () => 'nonsense'],
    ['a token of 2,000 characters', () => 'x'.repeat(2000)],
    ['a token with invalid characters', () => '%F0%9F%8E%9F..;'],
  ])('a connection with %s is accepted and then closed with 4501 (unknown token)', async (_what, token) => {
    expect((await service.socket(token()).ended).code).toBe(4501);
  });

  test('an upgrade request from a page of a foreign origin is 403; pages of allowed origins can connect', async () => {
    const matchId = await service.match();
    const { token } = await service.join(matchId);
    expect((await service.socket(token, { origin: 'https://evil.example' }).ended).status).toBe(403);
    for (const origin of ['https://shop.example', 'http://127.0.0.1:3000', 'http://localhost:3000']) {
      await service.socket(token, { origin }).next('position_update');
    }
  });

  test('a WebSocket upgrade on a path other than /ws/{token} is 404, and so is a plain HTTP request on /ws/{token}', async () => {
    expect((await service.call('GET', '/ws/some-token')).status).toBe(404);
    // A request that offers an upgrade to HTTP/2, as curl does, is handled as an ordinary request.
    expect(await rawUpgrade('/health/live', { upgrade: 'h2c' })).toMatch(/^HTTP\/1\.1 200 /);
    for (const path of ['/ws/', '/ws', '/ws/a/b', '/elsewhere/x']) expect(await rawUpgrade(path)).toMatch(/^HTTP\/1\.1 404 /);
    expect(await rawUpgrade('/ws/token', { version: 99 })).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test('when a fan connects a sixth device, the oldest device is closed with 4507', async () => {
    const matchId = await service.match();
    const { token } = await service.join(matchId);
    const sockets = [];
    for (let device = 0; device < 6; device += 1) {
      sockets.push(service.socket(token));
      await sockets.at(-1)!.next('position_update');
    }
    expect((await sockets[0]!.ended).code).toBe(4507);
    sockets[1]!.send({ type: 'heartbeat' });
    await sockets[1]!.next('heartbeat_ack');
  });
});

describe('messages from a client on a socket', () => {
  test.each<[string, string | Buffer, number]>([
    ['text that is not JSON', 'hello', 4502],
    ['a list', '[1]', 4502],
    ['null', 'null', 4502],
    ['incomplete JSON', '{"type"', 4502],
    ['invalid UTF-8 as binary', Buffer.from([0xff, 0xfe]), 4502],
    ['a heartbeat as binary', Buffer.from('{"type":"heartbeat"}'), 4502],
    ['a message of 4,097 bytes', `{"type":"${'x'.repeat(4086)}"}`, 4503],
    ['a message of 65,536 bytes', 'x'.repeat(65_536), 4503],
    ['a message of 65,537 bytes', 'x'.repeat(65_537), 1009],
    ['a message of two megabytes', 'x'.repeat(2_000_000), 1009],
  ])('%s closes the socket with code %3$i', async (_what, message, code) => {
    const { socket } = await connectedFan(await service.match());
    socket.send(message);
    expect((await socket.ended).code).toBe(code);
  });

  test('ten messages in ten seconds are answered, the eleventh closes the socket with 4504', async () => {
    const { socket } = await connectedFan(await service.match());
    for (let message = 0; message < 11; message += 1) socket.send({ type: 'heartbeat' });
    expect((await socket.ended).code).toBe(4504);
    expect(socket.heard.filter(({ type }) => type === 'heartbeat_ack')).toHaveLength(10);
  });

  test('ten pings in ten seconds are answered, the eleventh closes the socket with 4504', async () => {
    const { socket } = await connectedFan(await service.match());
    let pongs = 0;
    socket.socket.on('pong', () => (pongs += 1));
    for (let ping = 0; ping < 500; ping += 1) socket.socket.ping();
    expect((await socket.ended).code).toBe(4504);
    expect(pongs).toBeLessThanOrEqual(11);
  });

  test.each([
    ['in more than sixteen fragments', Array.from({ length: 20 }, (_, index) => frame(index === 0 ? 0x01 : 0x00, 'x'))],
    ['byte by byte', [frame(0x81, 'x'.repeat(60_000)).subarray(0, 8), ...Array.from({ length: 400 }, () => Buffer.from('x'))]],
  ])('a message that arrives %s closes the socket with 1008', async (_how, pieces) => {
    const { token } = await service.join(await service.match());
    const socket = await rawSocket(`/ws/${token}`);
    let closeCode = 0;
    socket.on('data', (bytes: Buffer) => {
      if (bytes[0] === 0x88) closeCode = bytes.readUInt16BE(2);
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const piece of pieces) {
      if (socket.destroyed || closeCode > 0) break;
      socket.write(piece);
      await pause(1);
    }
    await closed;
    expect(closeCode).toBe(1008);
  });

  test('a flood of invalid messages from 20 sockets does not affect other sockets, the memory or the readiness', async () => {
    const matchId = await service.match();
    const { socket: unaffected } = await connectedFan(matchId);
    const flooding = await Promise.all(Array.from({ length: 20 }, () => connectedFan(matchId)));
    const before = process.memoryUsage().heapUsed;
    for (const { socket } of flooding) for (let message = 0; message < 1000; message += 1) socket.send(`garbage ${message}`);
    await Promise.all(flooding.map(({ socket }) => socket.ended));
    unaffected.send({ type: 'heartbeat' });
    await unaffected.next('heartbeat_ack', 1000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
    expect((await service.call('GET', '/health/ready')).status).toBe(200);
  });

  test('the metric websocket_connections counts only open sockets', async () => {
    const sockets = async () => {
      const { body } = await service.call('GET', '/metrics');
      return Number(/^websocket_connections (\d+)$/m.exec(String(body.text))![1]);
    };
    const { socket } = await connectedFan(await service.match());
    const during = await sockets();
    socket.terminate();
    await pause(50);
    expect(await sockets()).toBe(during - 1);
  });
});

/** A WebSocket frame of a client, masked with zeros. */
function frame(head: number, text: string): Buffer {
  const { length } = text;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([head, ...size, 0, 0, 0, 0]), Buffer.from(text)]);
}

/** A TCP connection after its WebSocket upgrade, so that a test can write raw bytes. */
async function rawSocket(path: string): Promise<net.Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = net.connect(Number(port), hostname);
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  const lines = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nSec-WebSocket-Version: 13\r\n\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

/** Sends a hand-written upgrade request, for upgrades that a WebSocket client cannot send. Returns the response headers. */
async function rawUpgrade(path: string, { upgrade = 'websocket', version = 13 } = {}): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = net.connect(Number(port), hostname);
  const lines = [
    'Host: x',
    'Connection: Upgrade',
    `Upgrade: ${upgrade}`,
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    `Sec-WebSocket-Version: ${version}`,
  ];
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) {
    answer += String(chunk);
    if (answer.includes('\r\n\r\n')) break;
  }
  return answer;
}
