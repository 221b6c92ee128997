import { once } from 'node:events';
import net from 'node:net';

let server;
beforeAll(async () => {
  server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

test('fails: a connection stays open', async () => {
  const client = net.connect(server.address().port, '127.0.0.1');
  await once(client, 'connect');
  setTimeout(() => client.destroy(), 20_000).unref();
});
