import { once } from 'node:events';
import net from 'node:net';
import { TcpProxy } from './tcp-proxy.ts';

let server: net.Server;
let proxy: TcpProxy;
let client: net.Socket;

// The server behind the proxy is an echo server: it returns all bytes to the client.
beforeEach(async () => {
  server = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = await TcpProxy.inFrontOf(`tcp://127.0.0.1:${(server.address() as net.AddressInfo).port}`);
  const { hostname, port } = new URL(proxy.url);
  client = net.connect(Number(port), hostname);
  await once(client, 'connect');
});
afterEach(async () => {
  client.destroy();
  await proxy.close();
  await new Promise((resolve) => server.close(resolve));
});

const send = (text: string): Promise<void> => new Promise((sent) => client.write(text, () => setTimeout(sent, 10)));
const receive = async (): Promise<string> => String(await once(client, 'data'));

test('trap `wait`: the message that triggers the trap and all later messages of its connection wait for `release` and keep their order', async () => {
  const triggered = proxy.setTrap({ whenSent: 'hold', passOn: false, then: 'wait' });
  await send('hold ');
  await triggered;
  await send('pay ');
  let text = '';
  client.on('data', (bytes) => (text += String(bytes)));
  proxy.release();
  await send('go');
  expect(text).toBe('hold pay go');
});

test('delayMs: a message is delayed, and a later message without delay does not overtake it', async () => {
  proxy.delayMs = 60;
  const startedAt = Date.now();
  await send('first ');
  proxy.delayMs = 0;
  await send('second');
  let text = await receive();
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(55);
  if (text === 'first ') text += await receive();
  expect(text).toBe('first second');
});

test('rewrite: a text in messages is replaced by a text of the same length; a replacement of another length is refused', async () => {
  expect(() => proxy.rewrite('free', 'taken')).toThrow('length');
  proxy.rewrite('free', 'true');
  await Promise.all([send('is it free?'), receive().then((text) => expect(text).toBe('is it true?'))]);
  expect(proxy.rewritten).toBe(1);
});

test('redirectTo: connections to the first server break, and the next connection reaches the second server', async () => {
  const other = net.createServer((socket) => socket.on('error', () => undefined).write('the other')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  client.on('error', () => undefined);
  const broken = new Promise((resolve) => client.once('close', resolve));
  proxy.redirectTo(`tcp://127.0.0.1:${(other.address() as net.AddressInfo).port}`);
  await broken;
  client = net.connect(Number(new URL(proxy.url).port), '127.0.0.1');
  expect(await receive()).toBe('the other');
  client.destroy();
  await new Promise((resolve) => other.close(resolve));
});
