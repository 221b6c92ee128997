import { useSyncExternalStore } from 'react';

/** A page of the app with its parameters. */
export type Route =
  | { page: 'matches' }
  | { page: 'match'; matchId: string }
  | { page: 'checkout'; matchId: string }
  | { page: 'order'; orderId: string }
  | { page: 'tickets' }
  | { page: 'transfers' }
  | { page: 'account' }
  | { page: 'invitation' }
  | { page: 'quotas' }
  | { page: 'quota'; quotaId: string }
  | { page: 'ops'; matchId: string | undefined }
  | { page: 'ops-jobs' }
  | { page: 'ops-audit' }
  | { page: 'ops-webhooks' }
  | { page: 'ops-quotas'; matchId: string }
  | { page: 'unknown' };

/** A page for operators or partners. */
export type StaffRoute = Extract<
  Route,
  { page: 'quotas' | 'quota' | 'ops' | 'ops-jobs' | 'ops-audit' | 'ops-webhooks' | 'ops-quotas' }
>;

/** The path of each page. */
export const paths = {
  matches: '/',
  match: (id: string) => `/matches/${id}`,
  checkout: (id: string) => `/matches/${id}/checkout`,
  order: (id: string) => `/orders/${id}`,
  tickets: '/tickets',
  transfers: '/transfers',
  account: '/account',
  invitation: '/invitation',
  quotas: '/quotas',
  quota: (id: string) => `/quotas/${id}`,
  ops: (matchId?: string) => (matchId ? `/ops?match=${matchId}` : '/ops'),
  opsJobs: '/ops/jobs',
  opsAudit: '/ops/audit',
  opsWebhooks: '/ops/webhooks',
  opsQuotas: (matchId: string) => `/ops/matches/${matchId}/quotas`,
};

export const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** The route of an address. A path whose id is not a UUID is an unknown page, because the ids are put into API URLs. */
export function parseRoute(location: { pathname: string; search: string }): Route {
  const parts = location.pathname.split('/').filter(Boolean);
  if (parts[0] === 'ops' && parts[1] === 'matches') return parseMatchOfOps(parts.slice(2));
  const [first, id = '', second, ...more] = parts;
  if (more.length > 0) return { page: 'unknown' };
  if (first === undefined) return { page: 'matches' };
  if (first === 'tickets' && !id) return { page: 'tickets' };
  if (first === 'transfers' && !id) return { page: 'transfers' };
  if (first === 'account' && !id) return { page: 'account' };
  if (first === 'invitation' && !id) return { page: 'invitation' };
  if (first === 'quotas' && !id) return { page: 'quotas' };
  if (first === 'ops' && !id) return { page: 'ops', matchId: new URLSearchParams(location.search).get('match') ?? undefined };
  if (first === 'ops' && id === 'jobs' && second === undefined) return { page: 'ops-jobs' };
  if (first === 'ops' && id === 'audit' && second === undefined) return { page: 'ops-audit' };
  if (first === 'ops' && id === 'webhooks' && second === undefined) return { page: 'ops-webhooks' };
  if (!isUuid(id)) return { page: 'unknown' };
  if (first === 'matches' && second === undefined) return { page: 'match', matchId: id };
  if (first === 'matches' && second === 'checkout') return { page: 'checkout', matchId: id };
  if (first === 'quotas' && second === undefined) return { page: 'quota', quotaId: id };
  if (first === 'orders' && second === undefined) return { page: 'order', orderId: id };
  return { page: 'unknown' };
}

function parseMatchOfOps([id = '', page, ...more]: string[]): Route {
  if (isUuid(id) && page === 'quotas' && more.length === 0) return { page: 'ops-quotas', matchId: id };
  return { page: 'unknown' };
}

const subscribers = new Set<() => void>();
let navigated = false;
/**
 * True after the first navigation inside the app. Before that navigation, on a fresh load, the browser controls focus and
 * scrolling.
 */
export const hasNavigated = () => navigated;

/** Shows the page of `path` without a page load. */
export function navigate(path: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  navigated = true;
  scrollTo(0, 0);
  for (const subscriber of subscribers) subscriber();
}

function subscribe(subscriber: () => void): () => void {
  const onPopState = () => {
    navigated = true;
    subscriber();
  };
  subscribers.add(subscriber);
  addEventListener('popstate', onPopState);
  return () => {
    subscribers.delete(subscriber);
    removeEventListener('popstate', onPopState);
  };
}

/** The route of the current address. The component is drawn again after each navigation. */
export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const [pathname = '/', search = ''] = address.split('?');
  return parseRoute({ pathname, search });
}
