import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';

/**
 * A queue token is `qt_` and 51 bytes in base64url, 71 characters in total: which key it is encrypted with (3), a random nonce (16), and
 * encrypted with it the ids of match (16) and fan (16). Pods with the same secret read each other's tokens, so a join writes no extra
 * key for the token: the match tells in which cluster slot the fan's keys are, the fan's id gives the key of the session. The scripts
 * compare the whole token with the one in the session. So a forged token is worth nothing, and the encryption needs no signature.
 */
const TOKEN_PATTERN = /^qt_[A-Za-z0-9_-]{68}$/;
/** Tokens of 0.2.0 contain both ids as hex text. They stay good until their place or turn is over. */
const OLD_TOKEN_PATTERN = /^qt_([0-9a-f]{32})([0-9a-f]{32})[A-Za-z0-9_-]{24}$/;
const [KEY_ID_BYTES, NONCE_BYTES, ID_BYTES] = [3, 16, 16];
const [NONCE_AT, MATCH_AT, USER_AT] = [KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES, KEY_ID_BYTES + NONCE_BYTES + ID_BYTES];
const TOKEN_BYTES = USER_AT + ID_BYTES;
/** 51 bytes are exactly 68 characters, so one text of many tokens can be cut into single ones. */
const TOKEN_LENGTH = 68;
/** One call of the random generator or of the cipher costs more than building a token, so each call is made for 1,000 tokens. */
const POOL_SIZE = 1000;
const HYPHEN = 45;

interface Owner {
  readonly matchId: string;
  readonly userId: string;
}

interface TokenKey {
  readonly id: Buffer;
  readonly key: Buffer;
}

/** Makes and reads queue tokens. The first secret encrypts; tokens of the others are read, too, while a secret is being replaced. */
export class QueueTokens {
  private readonly keys: readonly TokenKey[];
  /** Tokens to come, complete but for the ids: the place of the ids has the key stream with which they are encrypted. */
  private readonly pool = Buffer.alloc(POOL_SIZE * TOKEN_BYTES);
  private usedCount = POOL_SIZE;

  constructor(secrets: readonly [string, ...string[]]) {
    this.keys = secrets.map(deriveKey);
  }

  issue(matchId: string, userId: string): string {
    return this.issueAll(matchId, [userId])[0]!;
  }

  /** New tokens of at most POOL_SIZE fans. */
  issueAll(matchId: string, userIds: readonly string[]): string[] {
    if (this.usedCount + userIds.length > POOL_SIZE) this.fillPool();
    const { pool, usedCount } = this;
    this.usedCount += userIds.length;
    const match = Buffer.alloc(ID_BYTES);
    encryptId(matchId, match, 0);
    for (const [index, userId] of userIds.entries()) {
      const from = (usedCount + index) * TOKEN_BYTES;
      for (let at = 0; at < ID_BYTES; at += 1) pool[from + MATCH_AT + at]! ^= match[at]!;
      encryptId(userId, pool, from + USER_AT);
    }
    // One text of all tokens costs half as much as a text for each.
    const text = pool.toString('base64url', usedCount * TOKEN_BYTES, this.usedCount * TOKEN_BYTES);
    return userIds.map((_, index) => `qt_${text.slice(index * TOKEN_LENGTH, (index + 1) * TOKEN_LENGTH)}`);
  }

  /** The match and fan of a token. Undefined for a text that cannot be a queue token: it is refused without a call to Redis. */
  ownerOf(text: string): Owner | undefined {
    const [, match, user] = OLD_TOKEN_PATTERN.exec(text) ?? [];
    if (match && user) return { matchId: withHyphens(match), userId: withHyphens(user) };
    if (!TOKEN_PATTERN.test(text)) return undefined;
    const token = Buffer.from(text.slice(3), 'base64url');
    const known = this.keys.find(({ id }) => id.equals(token.subarray(0, KEY_ID_BYTES)));
    if (!known) return undefined;
    const ids = streamsOf(known.key, token.subarray(NONCE_AT, MATCH_AT)).map((byte, at) => byte ^ token[MATCH_AT + at]!);
    const hex = Buffer.from(ids).toString('hex');
    return { matchId: withHyphens(hex.slice(0, 32)), userId: withHyphens(hex.slice(32)) };
  }

  private fillPool(): void {
    const { id, key } = this.keys[0]!;
    const nonces = randomBytes(POOL_SIZE * NONCE_BYTES);
    const streams = streamsOf(key, nonces);
    for (let index = 0; index < POOL_SIZE; index += 1) {
      const from = index * TOKEN_BYTES;
      id.copy(this.pool, from);
      nonces.copy(this.pool, from + NONCE_AT, index * NONCE_BYTES, (index + 1) * NONCE_BYTES);
      streams.copy(this.pool, from + MATCH_AT, 2 * index * ID_BYTES, 2 * (index + 1) * ID_BYTES);
    }
    this.usedCount = 0;
  }
}

/** A new session token: the proof of a turn. */
export function newSessionToken(): string {
  return `st_${randomBytes(32).toString('base64url')}`;
}

/** The keys are derived, so that nobody can learn from a token or its key id anything about receipts. */
function deriveKey(secret: string): TokenKey {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'tribina queue token', 32 + KEY_ID_BYTES));
  return { key: derived.subarray(0, 32), id: derived.subarray(32) };
}

/** Two blocks of key stream for each nonce, as AES in counter mode makes them: the encrypted nonce, and the one with its last bit changed. */
function streamsOf(key: Buffer, nonces: Buffer): Buffer {
  const counters = Buffer.alloc(2 * nonces.length);
  for (let from = 0; from < nonces.length; from += NONCE_BYTES) {
    nonces.copy(counters, 2 * from, from, from + NONCE_BYTES);
    nonces.copy(counters, 2 * from + NONCE_BYTES, from, from + NONCE_BYTES);
    counters[2 * from + 2 * NONCE_BYTES - 1]! ^= 1;
  }
  return createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(counters);
}

/** Encrypts the 16 bytes of a UUID with the key stream at this place. By hand: a call of the runtime costs as much as the whole token. */
function encryptId(id: string, bytes: Buffer, at: number): void {
  let to = at;
  for (let from = 0; from < 36; from += 2) {
    if (id.charCodeAt(from) === HYPHEN) from += 1;
    bytes[to]! ^= (hexDigit(id.charCodeAt(from)) << 4) | hexDigit(id.charCodeAt(from + 1));
    to += 1;
  }
}

function hexDigit(code: number): number {
  return code < 58 ? code - 48 : (code | 32) - 87;
}

function withHyphens(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
