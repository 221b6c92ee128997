import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { SocketDevice } from './socket-device.ts';
import { textFrame } from './text-frame.ts';

test('textFrame returns a WebSocket frame that a client decodes to the same text, for every header length and for non-ASCII text', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  await once(client, 'open');
  const received: string[] = [];
  client.on('message', (data, isBinary) => received.push(`${isBinary} ${(data as Buffer).toString('utf8')}`));
  const texts = [
    '',
    'a',
    'x'.repeat(125),
    'x'.repeat(126),
    'x'.repeat(127),
    'č'.repeat(62),
    'č'.repeat(63),
    'Šimić 🎟 東',
    'x'.repeat(65_535),
    'x'.repeat(65_536),
    'č'.repeat(40_000),
  ];
  const device = new SocketDevice('d', socket, 0);
  // On one connection, frames built by textFrame and frames built by the library `ws` alternate.
  for (const text of texts) {
    device.send(text, 'required');
    socket.send(text);
    socket.ping();
  }
  client.close();
  await once(client, 'close');
  expect(received).toEqual(texts.flatMap((text) => [`false ${text}`, `false ${text}`]));
  server.close();
});

test('textFrame returns undefined for a text above 65,535 bytes', () => {
  expect(textFrame('x'.repeat(65_536))).toBeUndefined();
  expect(textFrame('x'.repeat(65_535))).toHaveLength(65_539);
});
