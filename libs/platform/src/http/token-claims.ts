import type { JWTHeaderParameters, JWTPayload } from 'jose';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuid.test(value);
}

/** Accepted difference between the clocks of the identity provider and of this machine. */
export const CLOCK_TOLERANCE_SECONDS = 5;

/** The end of the year 9999, the last year of RFC 3339. A time in milliseconds is far beyond it and is refused. */
const LAST_SECOND = 253_402_300_799;

/** Accepted values of `typ`, lower case and without `application/`. RFC 7515 ignores case and lets senders omit that prefix. */
const TYPES = new Set(['jwt', 'at+jwt']);

/**
 * Returns the user id of a token whose signature, issuer and audience are valid, or undefined if the other claims are not valid.
 * The claims are checked here again, because the types of jose do not guarantee what a token contains.
 * - `typ`: JWT or at+jwt. RFC 7519 makes it optional, so a token without it is accepted; another kind of token is not.
 * - `exp` is required, `iat` and `nbf` are optional. Each is a number of seconds, fractions allowed, from 0 to the year 9999.
 * - `iat` is not in the future. jose checks `exp` and `nbf` against the clock itself.
 * - `sub` is a UUID.
 */
export function userOf(header: JWTHeaderParameters, claims: JWTPayload, nowSeconds: number): string | undefined {
  const { sub, exp, iat, nbf } = claims as Readonly<Record<string, unknown>>;
  if (!isAccessToken(header.typ) || !isUuid(sub)) return undefined;
  if (!isTime(exp) || !(iat === undefined || isTime(iat)) || !(nbf === undefined || isTime(nbf))) return undefined;
  if (iat !== undefined && iat > nowSeconds + CLOCK_TOLERANCE_SECONDS) return undefined;
  return sub.toLowerCase();
}

function isAccessToken(typ: unknown): boolean {
  if (typ === undefined) return true;
  return typeof typ === 'string' && TYPES.has(typ.toLowerCase().replace(/^application\//, ''));
}

/** The upper limit also excludes Infinity, which JSON.parse returns for `1e400`. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_SECOND;
}
