import { createServer } from 'node:net';

/** The standard ports of PostgreSQL and Redis. Our servers never use them, because the user may start servers of their own there. */
const RESERVED_PORTS = new Set([5432, 6379]);

/** The port that the server had in the previous run, if it is still free, else a free port chosen by the operating system. */
async function freePort(remembered?: number): Promise<number> {
  if (remembered !== undefined && !RESERVED_PORTS.has(remembered) && (await isPortFree(remembered))) return remembered;
  for (;;) {
    const port = await listenOn(0, '127.0.0.1');
    if (port !== undefined && !RESERVED_PORTS.has(port)) return port;
  }
}

/**
 * Starts a server on a free port, if possible on the remembered port of the previous run. Another process may take the port before
 * the server binds it; then a second port is tried.
 */
export async function startOnFreePort<T>(remembered: number | undefined, start: (port: number) => Promise<T>): Promise<T> {
  const port = await freePort(remembered);
  try {
    return await start(port);
  } catch (error) {
    if (!/address already in use/i.test(String(error))) throw error;
    return start(await freePort());
  }
}

/** True if the text is a whole number from 1 to 65535. */
export function isPort(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return (await listenOn(port, host)) !== undefined;
}

/** Binds a port for a moment. Returns the port, or undefined if it is taken. Other errors (a privileged port) are thrown. */
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
