import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from '../logging/logger.ts';

/** A request may take its whole deadline; after that the process goes, whatever hangs. */
const DRAIN_LIMIT_MS = 60_000;
/**
 * Connections a kernel keeps until we get to them: a sale opens for thousands in the same instant, and with Node's 511 the others
 * wait a second for another try, or are reset. Linux takes no more than `net.core.somaxconn`, which is 4096 by default.
 */
const MOST_UNACCEPTED = 4096;

/**
 * Listens and, on the first SIGTERM or SIGINT, drains: no new work, what runs is finished, connections are closed.
 * A second signal changes nothing, since supervisors and terminals both send one.
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
    setTimeout(() => process.exit(1), DRAIN_LIMIT_MS).unref();
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
    logger.fatal({ err: error }, 'a promise was left to itself: a defect');
    logger.flush(() => process.exit(70));
  });

  try {
    await app.listen({ host, port, backlog: MOST_UNACCEPTED });
  } catch (error) {
    const reason =
      (error as { code?: string }).code === 'EADDRINUSE' ? `port ${port} on ${host} is taken by another program` : String(error);
    process.stderr.write(`${name} cannot start: ${reason}\n`);
    process.exit(69);
  }
  logger.info({ host, port }, `${name} listens`);
}
