import { createServer } from 'node:net';
import { isPortFree, onFreePort } from './free-port.ts';

async function occupied<T>(work: (port: number) => Promise<T>): Promise<T> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    return await work((server.address() as { port: number }).port);
  } finally {
    server.close();
  }
}

test('a port somebody listens on is not free, and is free again afterwards', async () => {
  const port = await occupied(async (taken) => {
    expect(await isPortFree(taken)).toBe(false);
    return taken;
  });
  expect(await isPortFree(port)).toBe(true);
});

test('the remembered port is used again while it is free', async () => {
  const first = await onFreePort(undefined, async (port) => port);
  expect(await onFreePort(first, async (port) => port)).toBe(first);
});

test('a remembered port that is taken gives way to a fresh one', async () => {
  await occupied(async (taken) => {
    expect(await onFreePort(taken, async (port) => port)).not.toBe(taken);
  });
});

test.each([5432, 6379])('port %i is left to its usual owner even if it is remembered', async (port) => {
  expect(await onFreePort(port, async (chosen) => chosen)).not.toBe(port);
});

test('a port lost between looking and binding costs one more try', async () => {
  const tried: number[] = [];
  const port = await onFreePort(undefined, async (candidate) => {
    tried.push(candidate);
    if (tried.length === 1) throw new Error('could not bind: Address already in use');
    return candidate;
  });
  expect(tried).toHaveLength(2);
  expect(port).toBe(tried[1]);
});
