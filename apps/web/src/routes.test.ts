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
  [paths.ops(), { page: 'ops', matchId: undefined }],
  [paths.opsJobs, { page: 'ops-jobs' }],
  [paths.ops(id), { page: 'ops', matchId: id }],
])('the path %s is parsed as the route of its page', (address, route) => {
  expect(at(address)).toEqual(route);
});

test.each([
  '/matches',
  '/matches/1',
  `/matches/${id}/seats`,
  `/matches/${id}/checkout/more`,
  `/orders/${id}/checkout`,
  '/x',
  '/ops/other',
  '/ops/jobs/more',
])('the path %s leads to the page unknown', (address) => {
  expect(at(address)).toEqual({ page: 'unknown' });
});
