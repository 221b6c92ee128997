import type { DriverClient } from './database.ts';

/** A rollback takes a millisecond. Whoever is silent for so long is not waited for: the caller has its error already. */
const PATIENCE_MS = 2000;

/**
 * Takes back what a failed transaction did. A connection that cannot even do that, or does not answer, is destroyed: given
 * back as it is, the pool would hand it, with its open transaction or its silence, to whoever asks next. The server rolls back
 * by itself when a connection is gone.
 */
export async function rollBack(client: DriverClient, patienceMs = PATIENCE_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ROLLBACK within ${patienceMs} ms`)), patienceMs);
  });
  await Promise.race([client.query('ROLLBACK'), tooLate])
    .catch((cause: unknown) => destroy(client, cause))
    .finally(() => clearTimeout(timer));
}

/** With an error the pool hears of it in the next tick, before the connection is given back; a mere close it hears of later. */
async function destroy(client: DriverClient, cause: unknown): Promise<void> {
  client.connection.stream.destroy(new Error('The connection was given up: it could not roll back.', { cause }));
  await new Promise((resolve) => setImmediate(resolve));
}
