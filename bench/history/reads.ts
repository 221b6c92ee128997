import type { Client } from 'pg';

const STATUSES = ['awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired'];

/** A read of the API: its address without `/api/v1`, and who calls it. */
export interface Read {
  readonly url: string;
  readonly by: { readonly as: string; readonly headers?: Readonly<Record<string, string>> };
}

/**
 * Each read of the API with each of its filters, for a fan, an order, a match and a quota of the history. Only the stream of availability is
 * missing: it is the same statement as the sectors.
 */
export async function allReads(client: Client): Promise<Read[]> {
  const one = async (sql: string): Promise<Record<string, string>> => (await client.query<Record<string, string>>(sql)).rows[0]!;
  const order = await one(`
    select o.*, t.id as ticket_id from orders o join tickets t on t.order_id = o.id
    where o.status = 'completed' and t.status = 'valid' order by o.id desc offset 5000 limit 1`);
  const sector = await one(`select id from sectors where match_id = '${order.match_id}' limit 1`);
  const quota = await one(`select id, members[1] as member from quotas where match_id = '${order.match_id}' limit 1`);
  const match = `/matches/${order.match_id}`;
  const ofFan = [
    ...['/matches', '/matches?q=guest', '/matches?status=open', match, `${match}/sectors`, `${match}/sectors/${sector.id}/seats`],
    ...[`${match}/sectors/${sector.id}/seats?since=1`, `${match}/allocation`, '/me', '/orders', `/orders/${order.id}`],
    ...[
      '/tickets',
      `/tickets/${order.ticket_id}`,
      `/tickets/${order.ticket_id}/qr.svg`,
      `/tickets/${order.ticket_id}/ticket.pdf`,
    ],
    ...[
      '/reservations',
      `/reservations?match_id=${order.match_id}`,
      '/reservations?status=completed',
      '/reservations?status=held',
    ],
    `/reservations/${order.reservation_id}`,
  ];
  const orders = [
    ...['', `?match_id=${order.match_id}`, `?user_id=${order.user_id}`],
    ...STATUSES.flatMap((status) =>
      ['', `&match_id=${order.match_id}`, `&user_id=${order.user_id}`].map((more) => `?status=${status}${more}`),
    ),
    ...[order.number, order.email, order.intent_id, 'nothing'].map((text) => `?q=${encodeURIComponent(text!)}`),
    `?q=${encodeURIComponent(order.email!)}&match_id=${order.match_id}`,
  ];
  const jobs = [
    ...[
      '',
      '?state=failed',
      '?state=waiting',
      '?state=completed',
      '?queue=outbox',
      '?queue=outbox&q=order',
      '?template=order.completed',
      '/counts',
    ],
    ...[`?q=${order.user_id}`, `?q=${encodeURIComponent(order.email!)}`],
  ];
  const ofOperators = [
    ...orders.map((filter) => `/ops/orders${filter}`),
    ...jobs.map((filter) => `/ops/jobs${filter}`),
    ...[
      '/ops/matches',
      '/ops/matches?q=guest',
      `/ops${match}/report`,
      `/ops${match}/quotas`,
      `/ops/quotas/${quota.id}`,
      '/ops/quota-policies',
    ],
    ...[`/ops${match}/moves`, `/ops${match}/moves?status=pending`, '/ops/blacklist', `/ops/blacklist/${order.user_id}`],
  ];
  const ofPartners = ['/quotas', `/quotas/${quota.id}`, `/quotas/${quota.id}/invitations`];
  const by = (as: string, roles: string) => (url: string) => ({ url, by: { as, headers: { 'x-mock-roles': roles } } });
  return [
    ...ofFan.map(by(order.user_id!, '')),
    ...ofOperators.map(by('0190a000-0000-7000-8000-00000000000a', 'ops')),
    ...ofPartners.map(by(quota.member!, 'partner')),
  ];
}
