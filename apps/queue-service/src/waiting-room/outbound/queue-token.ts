import { randomBytes } from 'node:crypto';

const TOKEN_PATTERN = /^qt_([0-9a-f]{32})([0-9a-f]{32})[A-Za-z0-9_-]{24}$/;
/** 18 bytes are exactly 24 base64url characters without padding, so one encoded text can be cut into many random parts. */
const RANDOM_BYTES = 18;
const RANDOM_LENGTH = 24;
/** One call of the random generator costs as much as building a token, so each call fills a pool for 256 tokens. */
const POOL_SIZE = 256;

let pool = '';
let usedCount = POOL_SIZE;

/**
 * A queue token: `qt_`, the match id, the fan's id and 18 random bytes, 91 characters in total. The match id tells in which cluster
 * slot the fan's keys are. The fan's id gives the key of the session, so a join writes no extra key for the token. The random part
 * makes the token unguessable: the scripts compare the whole token with the one in the session.
 */
export function newQueueToken(matchId: string, userId: string): string {
  if (usedCount === POOL_SIZE) {
    pool = randomBytes(POOL_SIZE * RANDOM_BYTES).toString('base64url');
    usedCount = 0;
  }
  const from = usedCount * RANDOM_LENGTH;
  usedCount += 1;
  return `qt_${withoutHyphens(matchId)}${withoutHyphens(userId)}${pool.slice(from, from + RANDOM_LENGTH)}`;
}

/**
 * The match and the fan that a queue token contains. Undefined for a text that cannot be a queue token: it is refused without a
 * call to Redis.
 */
export function ownerOfToken(token: string): { matchId: string; userId: string } | undefined {
  const [, match, user] = TOKEN_PATTERN.exec(token) ?? [];
  return match && user ? { matchId: withHyphens(match), userId: withHyphens(user) } : undefined;
}

/** A new session token: the proof of a turn. */
export function newSessionToken(): string {
  return `st_${randomBytes(32).toString('base64url')}`;
}

function withoutHyphens(id: string): string {
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
}

function withHyphens(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
