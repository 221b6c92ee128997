/** The key a caller sent with a command. It is committed with the effect, so that a repeated command finds what the first one made. */
export interface IdempotencyKey {
  /** 32 hexadecimal digits. */
  readonly key: string;
  /** Hash of caller, method, path and body; 32 hexadecimal digits. The same key with another fingerprint is refused. */
  readonly fingerprint: string;
}

/** Another command with this key was committed first. Its answer is the answer to this command, too. */
export class KeyAlreadyUsed extends Error {
  constructor(readonly key: string) {
    super('The idempotency key was used by a request that finished first.');
  }
}
