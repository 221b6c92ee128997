import { once } from 'node:events';
import net from 'node:net';

test('passes: the server and the connection are closed', async () => {
  const server = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = net.connect(server.address().port, '127.0.0.1').resume();
  await once(client, 'close');
  server.close();
  setTimeout(() => undefined, 60_000).unref();
});
