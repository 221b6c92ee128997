import { once } from 'node:events';
import net from 'node:net';

test('fails: a server keeps listening', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  setTimeout(() => server.close(), 20_000).unref();
});
