import { isPageAddress, pageAddresses } from '#contracts/page-addresses';
import { parseRoute, paths, type Route } from './routes.ts';

const id = '01938f5e-7c1a-7b3c-9d2e-0123456789ab';
const at = (address: string): Route => {
  const { pathname, search } = new URL(address, 'http://page.example');
  return parseRoute({ pathname, search });
};

test.each<[string, Route]>([
  [paths.matches, { page: 'matches' }],
  [paths.match(id), { page: 'match', matchId: id }],
  [paths.checkout(id), { page: 'checkout', matchId: id }],
  [paths.order(id), { page: 'order', orderId: id }],
  [paths.tickets, { page: 'tickets' }],
  [paths.transfers, { page: 'transfers' }],
  [paths.account, { page: 'account' }],
  [paths.invitation, { page: 'invitation' }],
  [paths.quotas, { page: 'quotas' }],
  [paths.quota(id), { page: 'quota', quotaId: id }],
  [paths.ops(), { page: 'ops', matchId: undefined }],
  [paths.opsJobs, { page: 'ops-jobs' }],
  [paths.opsAudit, { page: 'ops-audit' }],
  [paths.opsWebhooks, { page: 'ops-webhooks' }],
  [paths.opsQuotas(id), { page: 'ops-quotas', matchId: id }],
  [paths.ops(id), { page: 'ops', matchId: id }],
])('the path %s is parsed as the route of its page', (address, route) => {
  expect(at(address)).toEqual(route);
});

test.each(['/matches', '/matches/1', `/matches/${id}/seats`, `/matches/${id}/checkout/more`, `/orders/${id}/checkout`, '/x'])(
  'the path %s leads to the page unknown',
  (address) => {
    expect(at(address)).toEqual({ page: 'unknown' });
  },
);

const addressOf = (path: string | ((id: string) => string)) => new URL(typeof path === 'string' ? path : path(id), 'http://page');
const pathOfEachPage = Object.values(paths).map((path) => addressOf(path).pathname);

test('the monolith answers each address of the page with the page, and no other page address exists', () => {
  expect(pathOfEachPage.filter((path) => !isPageAddress(path))).toEqual([]);
  expect([...new Set(pathOfEachPage)].sort()).toEqual(pageAddresses.map((address) => address.replace(':id', id)).sort());
});

test.each([
  ...pathOfEachPage,
  '/matches',
  '/matches/1',
  `/matches/${id}/seats`,
  `/matches/${id}/checkout/more`,
  `/matches/${id.toUpperCase()}`,
  '/orders',
  `/orders/${id}/checkout`,
  '/tickets/',
  `/tickets/${id}`,
  '/invitation/',
  `/invitation/${id}`,
  '/quotas/1',
  `/quotas/${id}/invitations`,
  '/ops/nothing',
  '/ops/jobs/more',
  '/ops/matches',
  `/ops/matches/${id}`,
  '/ops/matches/1/quotas',
  `/ops/matches/${id}/quotas/more`,
  '/nowhere',
])('the monolith and the page agree whether %s is the address of a page', (pathname) => {
  expect(isPageAddress(pathname)).toBe(parseRoute({ pathname, search: '' }).page !== 'unknown');
});
