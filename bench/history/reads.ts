import type { Client } from 'pg';

/** A read of the API: its address without `/api/v1`, and who calls it. */
export interface Read {
  readonly url: string;
  readonly by: { readonly as: string; readonly headers?: Readonly<Record<string, string>> };
}

/** An order of the history with its fan, its match, one of its tickets, and a sector and a quota of its match. */
const EXAMPLE = `
  select o.id, o.number, o.email, o.match_id as match, o.user_id as fan, o.intent_id as intent, o.reservation_id as reservation,
         t.id as ticket, q.id as quota, q.members[1] as partner, (select id from sectors where match_id = o.match_id limit 1) as sector,
         (select id from webhooks limit 1) as webhook
  from orders o join tickets t on t.order_id = o.id join quotas q on q.match_id = o.match_id
  where o.status = 'completed' and t.status = 'valid' order by o.id desc offset 5000 limit 1`;

type Example = Readonly<
  Record<
    'id' | 'number' | 'email' | 'match' | 'fan' | 'intent' | 'reservation' | 'ticket' | 'quota' | 'partner' | 'sector',
    string
  >
> & { readonly webhook: string | null };

const TIMES = ['?since=2026-01-01T00:00:00Z', '?until=2026-01-01T00:00:00Z'];
const STATUSES = ['awaiting_payment', 'completed', 'cancelled', 'refunded', 'expired'];

const readsOfFans = ({ id, match, ticket, sector, reservation }: Example): string[] => [
  ...['', '?q=guest', '?status=open', `/${match}`, `/${match}/sectors`, `/${match}/allocation`].map((more) => `/matches${more}`),
  ...['', '?since=1'].map((more) => `/matches/${match}/sectors/${sector}/seats${more}`),
  ...['', `/${ticket}`, `/${ticket}/qr.svg`, `/${ticket}/ticket.pdf`].map((more) => `/tickets${more}`),
  ...['', `?match_id=${match}`, '?status=completed', '?status=held', `/${reservation}`].map((more) => `/reservations${more}`),
  ...['/orders', `/orders/${id}`, '/transfers', '/me', '/me/export'],
];

function readsOfOperators({ number, email, ticket, match, fan, intent, quota, webhook }: Example): string[] {
  const ofStatus = STATUSES.flatMap((status) =>
    ['', `&match_id=${match}`, `&user_id=${fan}`].map((more) => `?status=${status}${more}`),
  );
  const searches = [
    ...[number, email, intent, 'nothing', number.slice(-4), number.slice(0, -2), email.slice(0, 8), ticket],
    ...[email, number.slice(-3), ticket.slice(-8), 'ana'].map((part) => `${part}&match_id=${match}`),
  ].map((text) => `?q=${text.replace('@', '%40')}`);
  const jobs = [
    '',
    '?state=failed',
    '?state=waiting',
    '?state=completed',
    '?queue=outbox',
    '?template=order.completed',
    '/counts',
  ];
  const jobSearches = ['?queue=outbox&q=order', `?q=${fan}`, `?q=${encodeURIComponent(email)}`];
  const audit = ['', `?actor=${fan}`, '?action=refundOrder', `?target=${match}`, `?match_id=${match}`, ...TIMES];
  return [
    ...['', `?match_id=${match}`, `?user_id=${fan}`, ...ofStatus, ...searches].map((filter) => `/ops/orders${filter}`),
    ...[...jobs, ...jobSearches].map((filter) => `/ops/jobs${filter}`),
    ...['', '?q=guest', `/${match}/report`, `/${match}/quotas`, `/${match}/moves`, `/${match}/moves?status=pending`].map(
      (more) => `/ops/matches${more}`,
    ),
    ...[`/ops/quotas/${quota}`, '/ops/quota-policies', '/ops/blacklist', `/ops/blacklist/${fan}`],
    ...audit.map((filter) => `/ops/audit${filter}`),
    '/ops/webhooks',
    ...(webhook ? ['', '?state=failed'].map((filter) => `/ops/webhooks/${webhook}/deliveries${filter}`) : []),
  ];
}

/** Each read of the API with each of its filters. Only the stream of availability is missing: it is the same statement as the sectors. */
export async function allReads(client: Client): Promise<Read[]> {
  const example = (await client.query<Example>(EXAMPLE)).rows[0];
  if (!example) throw new Error('There is no history.');
  const { fan, partner, quota } = example;
  const by = (as: string, roles: string) => (url: string) => ({ url, by: { as, headers: { 'x-mock-roles': roles } } });
  return [
    ...readsOfFans(example).map(by(fan, '')),
    ...readsOfOperators(example).map(by('0190a000-0000-7000-8000-00000000000a', 'ops')),
    ...['/quotas', `/quotas/${quota}`, `/quotas/${quota}/invitations`].map(by(partner, 'partner')),
  ];
}
