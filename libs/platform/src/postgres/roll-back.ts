import { waitAtMost } from '../wait-at-most.ts';
import type { DriverClient } from './database.ts';

/**
 * Timeout of a rollback, which takes a millisecond. After it the connection is given up; the caller gets the error of its
 * transaction anyway.
 */
const ROLLBACK_TIMEOUT_MS = 2000;

/**
 * Rolls back a failed transaction. If ROLLBACK fails or times out, the connection is destroyed. Otherwise the pool would give
 * the next caller a connection that does not answer or has an open transaction. The server rolls back by itself when the
 * connection closes.
 */
export async function rollBack(client: DriverClient): Promise<void> {
  const failure = await waitAtMost(
    ROLLBACK_TIMEOUT_MS,
    client.query('ROLLBACK').then(
      () => undefined,
      (error: unknown) => error,
    ),
    new Error(`no answer to ROLLBACK within ${ROLLBACK_TIMEOUT_MS} ms`),
  );
  if (failure) await destroy(client, failure);
}

/**
 * Destroys the socket with an error. The pool learns of an error in the next tick, before the connection is returned to it. The
 * pool would learn of a plain close too late.
 */
async function destroy(client: DriverClient, cause: unknown): Promise<void> {
  client.connection.stream.destroy(new Error('The connection was destroyed because it could not roll back.', { cause }));
  await new Promise((resolve) => setImmediate(resolve));
}
