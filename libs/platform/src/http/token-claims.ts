import type { JWTHeaderParameters, JWTPayload } from 'jose';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for a UUID in upper or lower case. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuid.test(value);
}

/** Accepted difference between the clocks of the identity provider and of this machine. */
export const CLOCK_TOLERANCE_SECONDS = 5;

/**
 * The last second of the year 9999, the last year of RFC 3339. A time in milliseconds instead of seconds is greater and is
 * refused.
 */
const LAST_SECOND = 253_402_300_799;

/**
 * Accepted values of `typ` in the header of a token, in lower case and without `application/`. RFC 7515 ignores case and lets
 * senders omit the prefix `application/`.
 */
const TYPES = new Set(['jwt', 'at+jwt']);

/**
 * Returns the user id in a token, or undefined if one of its claims is not valid. jose has checked signature, issuer and audience
 * before. The claims are checked here, because the types of jose do not guarantee what a token contains.
 * - `typ`: JWT or at+jwt. RFC 7519 makes it optional, so a token without it is accepted; a token of another type is not.
 * - `exp` is required, `iat` and `nbf` are optional. Each is a number of seconds, fractions allowed, from 0 to the year 9999.
 * - `iat` is not in the future. jose compares `exp` and `nbf` with the clock.
 * - `sub` is a UUID.
 */
export function userOf(header: JWTHeaderParameters, claims: JWTPayload, nowSeconds: number): string | undefined {
  const { sub, exp, iat, nbf } = claims as Readonly<Record<string, unknown>>;
  if (!isAccessToken(header.typ) || !isUuid(sub)) return undefined;
  if (!isTime(exp) || !(iat === undefined || isTime(iat)) || !(nbf === undefined || isTime(nbf))) return undefined;
  if (iat !== undefined && iat > nowSeconds + CLOCK_TOLERANCE_SECONDS) return undefined;
  return sub.toLowerCase();
}

/**
 * Returns the e-mail address in a token, only if the identity provider says that it belongs to the user. `"true"` as text does not
 * count: some providers copy such claims from what the user has typed.
 */
export function verifiedEmailOf({ email, email_verified: isVerified }: JWTPayload): string | undefined {
  return isVerified === true && typeof email === 'string' && email !== '' ? email : undefined;
}

function isAccessToken(typ: unknown): boolean {
  if (typ === undefined) return true;
  return typeof typ === 'string' && TYPES.has(typ.toLowerCase().replace(/^application\//, ''));
}

/** True for a time in seconds. The upper limit excludes Infinity, too, which JSON.parse returns for `1e400`. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_SECOND;
}
