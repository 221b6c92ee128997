import { storage } from '../storage.ts';
import { randomUuid } from './idempotency-key.ts';

/** The configuration that the page loads from the monolith before its first API call. */
export interface StartupConfig {
  queue_url: string;
  auth_mode: 'mock' | 'jwt';
  /** The claim of an access token that lists the roles of its caller. */
  roles_claim?: string;
}

/**
 * As whom a request is made. With AUTH_MODE=mock the page names the role: `partner`, or the chosen roles of operators. An access token
 * contains the roles of its caller.
 */
export type Role = 'ops' | 'partner';

/**
 * The fan who calls the API (CONTRACT §2). The server learns who the fan is from the HTTP headers that `headers` returns.
 * `fanId` is only a part of the page's keys in browser storage.
 */
export interface Caller {
  readonly mode: StartupConfig['auth_mode'];
  readonly fanId: string;
  readonly signedIn: boolean;
  /** The roles of the caller. They decide what the page shows; the server decides what is allowed. */
  readonly roles: readonly string[];
  headers(role?: Role): Record<string, string>;
}

const fanIdKey = 'tribina.fan';
const tokenKey = 'tribina.token';
const rolesKey = 'tribina.roles';

/** The caller that browser storage knows. In mock mode a fan id is created if there is none. */
export function currentCaller({ auth_mode: mode, roles_claim: claim = 'roles' }: StartupConfig): Caller {
  return mode === 'mock' ? mockCaller() : tokenCaller(claim);
}

function mockCaller(): Caller {
  const storedFanId = storage.local.read(fanIdKey);
  const fanId = storedFanId ?? randomUuid();
  if (!storedFanId) storage.local.write(fanIdKey, fanId);
  const roles = (storage.local.read(rolesKey) ?? 'ops').split(',').filter(Boolean);
  return {
    mode: 'mock',
    fanId,
    signedIn: true,
    roles,
    headers: (role) => ({
      'X-Mock-User-Id': fanId,
      ...(role ? { 'X-Mock-Roles': role === 'ops' ? roles.join(',') : role } : {}),
    }),
  };
}

/**
 * The caller in jwt mode. The access token comes from the club's sign-in and contains the roles; it is kept until the tab is
 * closed.
 */
function tokenCaller(rolesClaim: string): Caller {
  const token = storage.session.read(tokenKey);
  const { sub, [rolesClaim]: roles } = token ? claimsOf(token) : {};
  return {
    mode: 'jwt',
    fanId: typeof sub === 'string' ? sub : 'nobody',
    signedIn: token !== undefined,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    headers: (): Record<string, string> => (token ? { Authorization: `Bearer ${token}` } : {}),
  };
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    return JSON.parse(atob(payload)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Stores a new fan id (mock mode). It takes effect with the next page load. */
export function switchToNewFan(): void {
  storage.local.write(fanIdKey, randomUuid());
}

/** Stores the roles of an operator (mock mode). They take effect with the next page load. */
export function switchToRoles(roles: readonly string[]): void {
  storage.local.write(rolesKey, roles.join(','));
}

/** Stores the access token of a fan (jwt mode). It takes effect with the next page load. */
export function signInWith(token: string): void {
  storage.session.write(tokenKey, token);
}

/** Forgets the access token (jwt mode). It takes effect with the next page load. */
export function signOut(): void {
  storage.session.remove(tokenKey);
}
