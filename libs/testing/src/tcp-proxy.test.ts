import { once } from 'node:events';
import net from 'node:net';
import { TcpProxy } from './tcp-proxy.ts';

let server: net.Server;
let proxy: TcpProxy;
let client: net.Socket;

/** Says again what it hears. */
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

const say = (text: string): Promise<void> => new Promise((sent) => client.write(text, () => setTimeout(sent, 10)));
const heard = async (): Promise<string> => String(await once(client, 'data'));

test('a message that waits keeps back what follows it on its connection, in its order', async () => {
  const sprung = proxy.setTrap({ whenSent: 'hold', passOn: false, then: 'wait' });
  await say('hold ');
  await sprung;
  await say('pay ');
  let text = '';
  client.on('data', (bytes) => (text += String(bytes)));
  proxy.release();
  await say('go');
  expect(text).toBe('hold pay go');
});

test('a message arrives as late as it should, and never before one that was sent earlier', async () => {
  proxy.delayMs = 60;
  const begunAt = Date.now();
  await say('first ');
  proxy.delayMs = 0;
  await say('second');
  let text = await heard();
  expect(Date.now() - begunAt).toBeGreaterThanOrEqual(55);
  if (text === 'first ') text += await heard();
  expect(text).toBe('first second');
});

test('a text is heard as another of the same length, and only such a one', async () => {
  expect(() => proxy.rewrite('free', 'taken')).toThrow('length');
  proxy.rewrite('free', 'true');
  await Promise.all([say('is it free?'), heard().then((text) => expect(text).toBe('is it true?'))]);
  expect(proxy.rewritten).toBe(1);
});

test('led to another server, it breaks what led to the first, and the next connection reaches the other', async () => {
  const other = net.createServer((socket) => socket.on('error', () => undefined).write('the other')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  client.on('error', () => undefined);
  const broken = new Promise((resolve) => client.once('close', resolve));
  proxy.leadTo(`tcp://127.0.0.1:${(other.address() as net.AddressInfo).port}`);
  await broken;
  client = net.connect(Number(new URL(proxy.url).port), '127.0.0.1');
  expect(await heard()).toBe('the other');
  client.destroy();
  await new Promise((resolve) => other.close(resolve));
});
