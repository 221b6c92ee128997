import { storage } from '../storage.ts';
import { randomUuid } from './idempotency-key.ts';

/** The configuration that the page loads from the monolith before its first API call. */
export interface StartupConfig {
  queue_url: string;
  auth_mode: 'mock' | 'jwt';
}

/** The role that a request needs. With AUTH_MODE=mock the page names it; an access token contains the roles of its caller. */
export type Role = 'ops' | 'partner';

/**
 * The fan who calls the API (CONTRACT §2). The server learns who the fan is from the HTTP headers that `headers` returns.
 * `fanId` is only a part of the page's keys in browser storage.
 */
export interface Caller {
  readonly mode: StartupConfig['auth_mode'];
  readonly fanId: string;
  readonly signedIn: boolean;
  headers(role?: Role): Record<string, string>;
}

const fanIdKey = 'tribina.fan';
const tokenKey = 'tribina.token';

/** The caller that browser storage knows. In mock mode a fan id is created if there is none. */
export function currentCaller(mode: StartupConfig['auth_mode']): Caller {
  return mode === 'mock' ? mockCaller() : tokenCaller();
}

function mockCaller(): Caller {
  const storedFanId = storage.local.read(fanIdKey);
  const fanId = storedFanId ?? randomUuid();
  if (!storedFanId) storage.local.write(fanIdKey, fanId);
  return {
    mode: 'mock',
    fanId,
    signedIn: true,
    headers: (role) => ({ 'X-Mock-User-Id': fanId, ...(role ? { 'X-Mock-Roles': role } : {}) }),
  };
}

/**
 * The caller in jwt mode. The access token comes from the club's sign-in and contains the roles; it is kept until the tab is
 * closed.
 */
function tokenCaller(): Caller {
  const token = storage.session.read(tokenKey);
  return {
    mode: 'jwt',
    fanId: token ? subjectOf(token) : 'nobody',
    signedIn: token !== undefined,
    headers: (): Record<string, string> => (token ? { Authorization: `Bearer ${token}` } : {}),
  };
}

function subjectOf(token: string): string {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { sub } = JSON.parse(atob(payload)) as { sub?: unknown };
    return typeof sub === 'string' ? sub : 'nobody';
  } catch {
    return 'nobody';
  }
}

/** Stores a new fan id (mock mode). It takes effect with the next page load. */
export function switchToNewFan(): void {
  storage.local.write(fanIdKey, randomUuid());
}

/** Stores the access token of a fan (jwt mode). It takes effect with the next page load. */
export function signInWith(token: string): void {
  storage.session.write(tokenKey, token);
}

/** Forgets the access token (jwt mode). It takes effect with the next page load. */
export function signOut(): void {
  storage.session.remove(tokenKey);
}
