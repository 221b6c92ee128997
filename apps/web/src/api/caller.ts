import { storage } from '../storage.ts';
import { randomUuid } from './idempotency-key.ts';

export interface StartUp {
  queue_url: string;
  auth_mode: 'mock' | 'jwt';
}

/** Who is calling (CONTRACT §2). `fanId` only names what this browser remembers; the server believes the headers. */
export interface Caller {
  readonly mode: StartUp['auth_mode'];
  readonly fanId: string;
  readonly signedIn: boolean;
  headers(role?: 'ops'): Record<string, string>;
}

const fanName = 'tribina.fan';
const tokenName = 'tribina.token';

export function currentCaller(mode: StartUp['auth_mode']): Caller {
  return mode === 'mock' ? mockCaller() : tokenCaller();
}

function mockCaller(): Caller {
  const kept = storage.local.read(fanName);
  const fanId = kept ?? randomUuid();
  if (!kept) storage.local.write(fanName, fanId);
  return {
    mode: 'mock',
    fanId,
    signedIn: true,
    headers: (role) => ({ 'X-Mock-User-Id': fanId, ...(role ? { 'X-Mock-Roles': role } : {}) }),
  };
}

/** The token comes from the club's sign-in; roles stand in it. It lives as long as the tab. */
function tokenCaller(): Caller {
  const token = storage.session.read(tokenName);
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

export function becomeSomebodyElse(): void {
  storage.local.write(fanName, randomUuid());
}

export function signInWith(token: string): void {
  storage.session.write(tokenName, token);
}

export function signOut(): void {
  storage.session.remove(tokenName);
}
