import type { Freshness } from '#application/freshness';
import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { IncomingHttpHeaders } from 'node:http';
import type { z } from 'zod';
import type { authenticationSettings } from '../config/settings.ts';
import type { CallerIdentity } from './caller.ts';
import { ProviderKeys } from './provider-keys.ts';
import { RequestRefused } from './request-refused.ts';
import { CLOCK_TOLERANCE_SECONDS, isUuid, userOf } from './token-claims.ts';

/**
 * A function that identifies the caller from the request headers. It returns undefined if the credentials are missing or invalid.
 */
export type IdentifyCaller = (headers: IncomingHttpHeaders) => CallerIdentity | undefined | Promise<CallerIdentity | undefined>;

/**
 * What a public read must see. A caller with credentials, checked or not, may have written a moment ago, perhaps through another
 * process, and must see that. Nobody can gain anything with false credentials.
 */
export function freshnessFor(headers: IncomingHttpHeaders): Freshness {
  return headers.authorization === undefined && headers['x-mock-user-id'] === undefined ? 'recent' : 'current';
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Identifies callers with AUTH_MODE=mock, for development: the headers name the caller without any check. */
export const identifyMock: IdentifyCaller = (headers) => {
  const userId = single(headers['x-mock-user-id'])?.trim();
  if (!isUuid(userId)) return undefined;
  const roles = (single(headers['x-mock-roles']) ?? '').split(',').flatMap((role) => role.trim() || []);
  return { userId: userId.toLowerCase(), roles };
};

/**
 * Accepted signature algorithms: only asymmetric ones. With a shared-secret algorithm anybody could sign a token with the public
 * key.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** Identifies callers by a bearer token (JWT) whose signature, issuer and audience are checked. */
export function identifyByToken(options: {
  keys: JWTVerifyGetKey;
  issuer: string;
  audience: string;
  rolesClaim: string;
}): IdentifyCaller {
  return async (headers) => {
    const [scheme, token, ...rest] = (headers.authorization ?? '').split(' ');
    if (scheme?.toLowerCase() !== 'bearer' || !token || rest.length > 0) return undefined;
    const verified = await jwtVerify(token, options.keys, {
      algorithms: ALGORITHMS,
      issuer: options.issuer,
      audience: options.audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    }).catch((error: unknown) => {
      // An invalid token is an error of the caller (401). Keys that are missing or unusable are an error on our side (503).
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid)) return undefined;
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail: 'The identity provider does not answer.', cause: error });
    });
    const userId = verified && userOf(verified.protectedHeader, verified.payload, Date.now() / 1000);
    if (!userId) return undefined;
    const roles = verified.payload[options.rolesClaim];
    return { userId, roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [] };
  };
}

/** Chooses the way to identify callers by the setting AUTH_MODE. */
export function identifyCallers(
  config: Omit<z.output<typeof authenticationSettings>, 'INTERNAL_AUTH_SECRET' | 'ALLOW_MOCK_ON_NETWORK'>,
): IdentifyCaller {
  if (config.AUTH_MODE === 'mock') return identifyMock;
  if (!config.JWT_JWKS_URL || !config.JWT_ISSUER || !config.JWT_AUDIENCE)
    throw new Error('AUTH_MODE=jwt without JWT_JWKS_URL, JWT_ISSUER or JWT_AUDIENCE: loadConfig refuses this');
  const keys = new ProviderKeys(new URL(config.JWT_JWKS_URL)).find;
  return identifyByToken({ keys, issuer: config.JWT_ISSUER, audience: config.JWT_AUDIENCE, rolesClaim: config.JWT_ROLES_CLAIM });
}
