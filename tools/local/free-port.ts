import { createServer } from 'node:net';

/** Ports somebody's own PostgreSQL and Redis live on: ours never sit there, not even when they happen to be free. */
const KEPT_CLEAR = new Set([5432, 6379]);

/** The remembered port if it is still free, else one the operating system picks. */
async function freePort(remembered?: number): Promise<number> {
  if (remembered !== undefined && !KEPT_CLEAR.has(remembered) && (await isPortFree(remembered))) return remembered;
  for (;;) {
    const port = await listenOn(0, '127.0.0.1');
    if (port !== undefined && !KEPT_CLEAR.has(port)) return port;
  }
}

/** Between looking and binding somebody else may take the port; then the server says so, and another one is tried. */
export async function onFreePort<T>(remembered: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  const port = await freePort(remembered);
  try {
    return await start(port);
  } catch (error) {
    if (!/address already in use/i.test(String(error))) throw error;
    return start(await freePort());
  }
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return (await listenOn(port, host)) !== undefined;
}

/** Binds for an instant; the port it got, or undefined when it is taken. Other refusals (a privileged port) are thrown. */
function listenOn(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(bound));
    });
  });
}
