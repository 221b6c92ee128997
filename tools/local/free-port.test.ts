import { createServer } from 'node:net';
import { isPortFree, startOnFreePort } from './free-port.ts';

async function withTakenPort<T>(work: (port: number) => Promise<T>): Promise<T> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await work((server.address() as { port: number }).port);
  } finally {
    server.close();
  }
}

test('isPortFree is false while a server listens on the port, and true afterwards', async () => {
  const port = await withTakenPort(async (taken) => {
    expect(await isPortFree(taken)).toBe(false);
    return taken;
  });
  expect(await isPortFree(port)).toBe(true);
});

test('startOnFreePort uses the remembered port if it is free', async () => {
  const first = await startOnFreePort(undefined, async (port) => port);
  expect(await startOnFreePort(first, async (port) => port)).toBe(first);
});

test('startOnFreePort uses another port if the remembered port is taken', async () => {
  await withTakenPort(async (taken) => {
    expect(await startOnFreePort(taken, async (port) => port)).not.toBe(taken);
  });
});

test.each([5432, 6379])('the standard port %i of PostgreSQL or Redis is never used, even if it is remembered', async (port) => {
  expect(await startOnFreePort(port, async (chosen) => chosen)).not.toBe(port);
});

test('startOnFreePort tries a second port if another process takes the first one before the server binds it', async () => {
  const tried: number[] = [];
  const port = await startOnFreePort(undefined, async (candidate) => {
    tried.push(candidate);
    if (tried.length === 1) throw new Error('could not bind: Address already in use');
    return candidate;
  });
  expect(tried).toHaveLength(2);
  expect(port).toBe(tried[1]);
});
