import { randomBytes } from 'node:crypto';

const PREFIX = 'qt_';
const SHAPE = /^qt_[A-Za-z0-9_-]{43}$/;

/**
 * `qt_` and 43 characters: 16 bytes of the match's id and 16 random bytes. The match is inside because everything about
 * it, the token's own key too, lives in the cluster slot of that match; the random half is what cannot be guessed.
 */
export function newQueueToken(matchId: string): string {
  return PREFIX + Buffer.concat([uuidBytes(matchId), randomBytes(16)]).toString('base64url');
}

/** Undefined for what was certainly never issued, which then costs Redis nothing. */
export function matchOfToken(token: string): string | undefined {
  if (!SHAPE.test(token)) return undefined;
  const hex = Buffer.from(token.slice(PREFIX.length), 'base64url').subarray(0, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The proof of a turn. */
export function newSessionToken(): string {
  return `st_${randomBytes(32).toString('base64url')}`;
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}
