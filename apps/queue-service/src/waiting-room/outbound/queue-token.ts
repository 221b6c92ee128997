import { randomBytes } from 'node:crypto';

const SHAPE = /^qt_([0-9a-f]{32})([0-9a-f]{32})[A-Za-z0-9_-]{24}$/;
/** 18 bytes are 24 characters exactly, so one text holds many. */
const RANDOM_BYTES = 18;
const RANDOM_LENGTH = 24;
/** One call to the system's generator costs as much as the rest of a token; a pool serves 256 of them. */
const POOLED = 256;

let pool = '';
let taken = POOLED;

/**
 * `qt_`, the match's id, the fan's, and 18 random bytes: 91 characters. The match is inside because everything about it lives
 * in one cluster slot, the fan because the session then is the token's only record: one key less to write at a join. The
 * random part is what cannot be guessed; the session tells whether it is right.
 */
export function newQueueToken(matchId: string, userId: string): string {
  if (taken === POOLED) {
    pool = randomBytes(POOLED * RANDOM_BYTES).toString('base64url');
    taken = 0;
  }
  const from = taken * RANDOM_LENGTH;
  taken += 1;
  return `qt_${withoutHyphens(matchId)}${withoutHyphens(userId)}${pool.slice(from, from + RANDOM_LENGTH)}`;
}

/** Undefined for what was certainly never issued, which then costs Redis nothing. */
export function ownerOfToken(token: string): { matchId: string; userId: string } | undefined {
  const [, match, user] = SHAPE.exec(token) ?? [];
  return match && user ? { matchId: withHyphens(match), userId: withHyphens(user) } : undefined;
}

/** The proof of a turn. */
export function newSessionToken(): string {
  return `st_${randomBytes(32).toString('base64url')}`;
}

function withoutHyphens(id: string): string {
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
}

function withHyphens(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
