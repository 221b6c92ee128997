/**
 * The idempotency key that a caller sent with a command. It is committed with the effect of the command, so that a repeated
 * command finds what the first one created.
 */
export interface IdempotencyKey {
  /** The key as 32 hexadecimal digits. */
  readonly key: string;
  /**
   * Hash of caller, method, path and body; 32 hexadecimal digits. A request with the same key and another fingerprint is refused.
   */
  readonly fingerprint: string;
}

/**
 * Thrown when another command with the same idempotency key was committed first. The answer of that command is the answer to this
 * one, too.
 */
export class KeyAlreadyUsed extends Error {
  constructor(readonly key: string) {
    super('The idempotency key was used by a request that finished first.');
  }
}
