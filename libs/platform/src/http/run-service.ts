import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from '../logging/logger.ts';
import { startWatchdog } from '../watchdog/watchdog.ts';

/**
 * Maximum time of a shutdown. After it the process exits even if a request still runs. It is longer than the default request
 * deadline of 55 s.
 */
const DRAIN_TIMEOUT_MS = 60_000;
/**
 * How many new connections the kernel keeps until the process accepts them. When a sale opens, thousands of fans connect at the
 * same instant. With Node's default of 511, more connections than that are reset or retried after a second. Linux limits this
 * value to `net.core.somaxconn`, 4096 by default.
 */
const ACCEPT_BACKLOG = 4096;

/**
 * Starts the HTTP server. On the first SIGTERM or SIGINT the service drains: it takes no new work, finishes running requests and
 * closes its connections. A second signal is ignored, because a supervisor and a terminal may each send one. A process that hangs is
 * killed.
 */
export async function runService(
  app: NestFastifyApplication,
  options: { name: string; host: string; port: number; logger: Logger },
): Promise<void> {
  const { name, host, port, logger } = options;
  let draining = false;
  const drain = async (signal: string): Promise<void> => {
    if (draining) return;
    draining = true;
    logger.info({ signal }, `${name} is draining`);
    setTimeout(() => process.exit(1), DRAIN_TIMEOUT_MS).unref();
    try {
      await app.close();
      logger.info(`${name} has stopped`);
      process.exitCode = 0;
    } catch (error) {
      logger.error({ err: error }, `${name} did not stop cleanly`);
      process.exitCode = 1;
    }
    logger.flush(() => process.exit());
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void drain(signal));
  process.on('unhandledRejection', (error) => {
    logger.fatal({ err: error }, 'unhandled promise rejection');
    logger.flush(() => process.exit(70));
  });

  try {
    await app.listen({ host, port, backlog: ACCEPT_BACKLOG });
  } catch (error) {
    const reason =
      (error as { code?: string }).code === 'EADDRINUSE' ? `port ${port} on ${host} is taken by another program` : String(error);
    process.stderr.write(`${name} cannot start: ${reason}\n`);
    process.exit(69);
  }
  startWatchdog(name);
  logger.info({ host, port }, `${name} listens`);
}
