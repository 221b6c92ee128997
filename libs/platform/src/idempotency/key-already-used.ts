/** Another request with this idempotency key was committed first. Its answer is the answer to this request, too. */
export class KeyAlreadyUsed extends Error {
  constructor(readonly key: string) {
    super('The idempotency key was used by a request that finished first.');
  }
}
