import { createHash, randomBytes } from 'node:crypto';

/** A new token of an invitation: 256 random bits. Only its mail has it. */
export function newInvitationToken(): string {
  return `inv_${randomBytes(32).toString('base64url')}`;
}

/** What the database has of a token. The token is random, so a fast hash without salt is enough. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
