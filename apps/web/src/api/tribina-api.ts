import type { CheckOutRequest } from '#contracts/orders';
import type { Job } from '#contracts/jobs';
import type { PageRoute, RouteAnswer, RouteBody, RouteParams, RouteQuery } from '#contracts/page-routes';
import type { SandboxOutcome } from '#contracts/payments';
import type { PlannedPlaces, Quota } from '#contracts/quotas';
import type { HoldRequest } from '#contracts/reservations';
import type { SeatList } from '#contracts/seats';
import type { Caller, Role, StartupConfig } from './caller.ts';
import { Client } from './client.ts';
import { applySeatAnswer, SeatCache } from './seat-cache.ts';
import { Problem, readProblem } from './problem.ts';

/** The largest page of a list. The page shows one page of each list. */
const limit = '100';

/** A page of the list of jobs, which the page reads again every few seconds. */
const jobsPerPage = 50;
/** The API ends a page early when few of many jobs match. For each page that is shown this many pages are read at most. */
const maxJobRequests = 5;

/** A match has few quotas. The page shows the first thousand. */
const maxQuotaPages = 10;

/** All API calls of the page. Paths and types come from the table of routes in libs/contracts. */
export class TribinaApi {
  private readonly client: Client;
  private readonly queueOrigin: string;
  private readonly seatCache = new SeatCache();

  constructor(startupConfig: StartupConfig, caller: Caller) {
    this.client = new Client(caller);
    this.queueOrigin = startupConfig.queue_url.replace(/\/$/, '');
  }

  // Catalogue
  matches = (q?: string, signal?: AbortSignal) =>
    this.get('GET /api/v1/matches', {}, { query: q ? { limit, q } : { limit }, signal });
  match = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/matches/:id', { id }, { signal });
  sectors = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/matches/:id/sectors', { id }, { signal });
  seats = async (id: string, sid: string, signal?: AbortSignal): Promise<SeatList> => {
    const cached = this.seatCache.get(sid);
    const route = 'GET /api/v1/matches/:id/sectors/:sid/seats';
    const url = this.url(route, { id, sid }, cached && { since: cached.etag });
    const { value, etag } = await this.client.getWithEtag<RouteAnswer<typeof route>>(url, signal);
    const list = applySeatAnswer(cached?.list, value);
    return etag ? this.seatCache.store(sid, { etag, list }) : list;
  };
  availabilityUrl = (id: string) => this.url('GET /api/v1/matches/:id/availability', { id });

  // Waiting room
  joinQueue = (match_id: string, receipt?: string) => {
    const route = 'POST /api/v1/queue/:match_id/join';
    const body: RouteBody<typeof route> = receipt ? { receipt } : {};
    return this.client.post<RouteAnswer<typeof route>>(this.url(route, { match_id }), body);
  };
  queueEntry = (match_id: string, signal?: AbortSignal) =>
    this.get('GET /api/v1/queue/:match_id/position', { match_id }, { signal });
  leaveQueue = (match_id: string) => this.delete('DELETE /api/v1/queue/:match_id', { match_id });
  queueStatus = (match_id: string, signal?: AbortSignal) =>
    this.get('GET /api/v1/queue/:match_id/status', { match_id }, { signal });

  // Purchase
  hold = (id: string, request: HoldRequest, sessionToken?: string) =>
    this.send(
      'POST /api/v1/matches/:id/reservations',
      { id },
      request,
      sessionToken ? { 'X-Purchase-Session': sessionToken } : {},
    );
  reservation = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/reservations/:id', { id }, { signal });
  release = (id: string) => this.delete('DELETE /api/v1/reservations/:id', { id });
  checkout = (id: string, request: CheckOutRequest) => this.send('POST /api/v1/reservations/:id/checkout', { id }, request);
  order = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/orders/:id', { id }, { signal });

  // Tickets
  tickets = (signal?: AbortSignal) => this.get('GET /api/v1/tickets', {}, { query: { limit }, signal });
  ticket = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/tickets/:id', { id }, { signal });
  ticketQr = (id: string, signal?: AbortSignal) =>
    this.client.getBlob(this.url('GET /api/v1/tickets/:id/qr.svg', { id }), signal);
  offerTicket = (id: string, request: RouteBody<'POST /api/v1/tickets/:id/transfer'>) =>
    this.send('POST /api/v1/tickets/:id/transfer', { id }, request);
  transfers = (signal?: AbortSignal) => this.get('GET /api/v1/transfers', {}, { query: { limit }, signal });
  acceptTransfer = (id: string, request: RouteBody<'POST /api/v1/transfers/:id/accept'>) =>
    this.send('POST /api/v1/transfers/:id/accept', { id }, request);
  declineTransfer = (id: string) => this.send('POST /api/v1/transfers/:id/decline', { id }, undefined);
  withdrawTransfer = (id: string) => this.delete('DELETE /api/v1/transfers/:id', { id });

  // The fan
  profile = (signal?: AbortSignal) => this.get('GET /api/v1/me', {}, { signal });
  /** As a file, because it may have thousands of entries. */
  exportMe = (): Promise<Blob> => this.client.getBlob(this.url('GET /api/v1/me/export', {}));
  eraseMe = () => this.delete('DELETE /api/v1/me', {});
  changeProfile = (profile: RouteBody<'PUT /api/v1/me'>) => this.send('PUT /api/v1/me', {}, profile);

  // Invitations, for the fan who has the link. The token is in bodies only.
  lookUpInvitation = (token: string, signal?: AbortSignal) => {
    const route = 'POST /api/v1/invitations/lookup';
    const body: RouteBody<typeof route> = { token };
    return this.client.post<RouteAnswer<typeof route>>(this.url(route, {}), body, signal);
  };
  claimInvitation = (token: string) => this.send('POST /api/v1/invitations/claim', {}, { token });

  // Partners
  /** The first `pages` times 100 quotas of the partner. */
  quotas = (pages: number, signal?: AbortSignal) =>
    readPages((query) => this.get('GET /api/v1/quotas', {}, { query, signal }), pages);
  quota = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/quotas/:id', { id }, { signal });
  /** The first `pages` times 100 invitations of a quota. */
  invitations = (id: string, pages: number, signal?: AbortSignal) =>
    readPages((query) => this.get('GET /api/v1/quotas/:id/invitations', { id }, { query, signal }), pages);
  invite = (id: string, request: RouteBody<'POST /api/v1/quotas/:id/invitations'>) =>
    this.send('POST /api/v1/quotas/:id/invitations', { id }, request);
  /** Invites the people of a CSV file. The key of the list keeps a repeated call from inviting anybody twice. */
  inviteByCsv = (id: string, csv: string, query: { list_key: string; dry_run: 'true' | 'false' }) => {
    const route = 'POST /api/v1/quotas/:id/invitations';
    return this.client.postCsv<RouteAnswer<typeof route>>(this.url(route, { id }, query), csv, 'partner');
  };
  resendInvitation = (id: string) => this.send('POST /api/v1/invitations/:id/resend', { id }, undefined);
  withdrawInvitation = (id: string) => this.delete('DELETE /api/v1/invitations/:id', { id });

  // Operators
  opsMatches = (q?: string, signal?: AbortSignal) =>
    this.get('GET /api/v1/ops/matches', {}, { query: q ? { limit, q } : { limit }, signal });
  opsChangeSale = (id: string, change: RouteBody<'POST /api/v1/ops/matches/:id/sale'>) =>
    this.send('POST /api/v1/ops/matches/:id/sale', { id }, change);
  opsChangeMatch = (id: string, change: RouteBody<'PATCH /api/v1/ops/matches/:id'>) =>
    this.send('PATCH /api/v1/ops/matches/:id', { id }, change);
  opsChangeQueueLimits = (id: string, limits: RouteBody<'PUT /api/v1/ops/matches/:id/queue'>) =>
    this.send('PUT /api/v1/ops/matches/:id/queue', { id }, limits);
  opsReport = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/ops/matches/:id/report', { id }, { signal });
  opsCancelMatch = (id: string, reason: string) => this.send('POST /api/v1/ops/matches/:id/cancel', { id }, { reason });
  opsOrders = (match_id: string, q: string, signal?: AbortSignal) =>
    this.get('GET /api/v1/ops/orders', {}, { query: { match_id, q }, signal });
  opsRefund = (id: string, ticket_ids?: string[]) => this.send('POST /api/v1/ops/orders/:id/refund', { id }, { ticket_ids });
  opsBlacklist = (signal?: AbortSignal) => this.get('GET /api/v1/ops/blacklist', {}, { query: { limit }, signal });
  opsAddToBlacklist = (entry: RouteBody<'POST /api/v1/ops/blacklist'>) => this.send('POST /api/v1/ops/blacklist', {}, entry);
  opsRemoveFromBlacklist = (user_id: string) => this.delete('DELETE /api/v1/ops/blacklist/:user_id', { user_id });

  /** The newest `pages` times 100 entries of the audit log. */
  opsAudit = (filter: Omit<RouteQuery<'GET /api/v1/ops/audit'>, 'limit' | 'cursor'>, pages: number, signal?: AbortSignal) =>
    readPages((page) => this.get('GET /api/v1/ops/audit', {}, { query: { ...filter, ...page }, signal }), pages);

  opsWebhooks = (signal?: AbortSignal) => this.get('GET /api/v1/ops/webhooks', {}, { query: { limit }, signal });
  opsAddWebhook = (webhook: RouteBody<'POST /api/v1/ops/webhooks'>) => this.send('POST /api/v1/ops/webhooks', {}, webhook);
  opsRemoveWebhook = (id: string) => this.delete('DELETE /api/v1/ops/webhooks/:id', { id });
  /** The newest `pages` times 100 deliveries of a webhook. */
  opsWebhookDeliveries = (id: string, pages: number, signal?: AbortSignal) =>
    readPages((query) => this.get('GET /api/v1/ops/webhooks/:id/deliveries', { id }, { query, signal }), pages);
  opsRetryWebhookDelivery = (id: string, delivery_id: string) =>
    this.send('POST /api/v1/ops/webhooks/:id/deliveries/:delivery_id/retry', { id, delivery_id }, undefined);

  opsJobCounts = (signal?: AbortSignal) => this.get('GET /api/v1/ops/jobs/counts', {}, { signal });
  /** The newest jobs of the filter, `pages` times 50. */
  opsJobs = async (
    filter: Omit<RouteQuery<'GET /api/v1/ops/jobs'>, 'limit' | 'cursor'>,
    pages: number,
    signal?: AbortSignal,
  ): Promise<{ items: Job[]; isMore: boolean }> => {
    const items: Job[] = [];
    let cursor: string | null | undefined;
    for (let requests = 0; requests < maxJobRequests * pages && items.length < jobsPerPage * pages; requests += 1) {
      const wanted = String(jobsPerPage * pages - items.length);
      const query = { ...filter, limit: Number(wanted) > 100 ? limit : wanted, ...(cursor ? { cursor } : {}) };
      const answer = await this.get('GET /api/v1/ops/jobs', {}, { query, signal });
      items.push(...answer.items);
      cursor = answer.next_cursor;
      if (!cursor) break;
    }
    return { items, isMore: Boolean(cursor) };
  };
  opsRetryJob = (job_id: string) => this.send('POST /api/v1/ops/jobs/:job_id/retry', { job_id }, undefined);
  opsDropJob = (job_id: string) => this.delete('DELETE /api/v1/ops/jobs/:job_id', { job_id });
  opsRetryJobs = (request: RouteBody<'POST /api/v1/ops/jobs/retry'>) => this.send('POST /api/v1/ops/jobs/retry', {}, request);

  // Quotas
  allocation = (id: string, signal?: AbortSignal) => this.get('GET /api/v1/matches/:id/allocation', { id }, { signal });
  /** All quotas of a match, parents before their children. */
  opsQuotas = async (id: string, signal?: AbortSignal): Promise<Quota[]> =>
    (await readPages((page) => this.get('GET /api/v1/ops/matches/:id/quotas', { id }, { query: page, signal }), maxQuotaPages))
      .items;
  opsPlanQuota = async (id: string, quota: RouteBody<'POST /api/v1/ops/matches/:id/quotas'>): Promise<PlannedPlaces> => {
    const answer = await this.send('POST /api/v1/ops/matches/:id/quotas', { id }, { ...quota, dry_run: true });
    if (!('dry_run' in answer)) throw new Problem('UNKNOWN', 0);
    return answer;
  };
  opsCreateQuota = (id: string, quota: RouteBody<'POST /api/v1/ops/matches/:id/quotas'>) =>
    this.send('POST /api/v1/ops/matches/:id/quotas', { id }, quota);
  opsChangeQuota = (id: string, change: RouteBody<'PATCH /api/v1/ops/quotas/:id'>) =>
    this.send('PATCH /api/v1/ops/quotas/:id', { id }, change);
  opsMovePlaces = (id: string, move: RouteBody<'POST /api/v1/ops/quotas/:id/moves'>) =>
    this.send('POST /api/v1/ops/quotas/:id/moves', { id }, move);
  opsMoves = (id: string, status: 'done' | 'pending', pages: number, signal?: AbortSignal) =>
    readPages((page) => this.get('GET /api/v1/ops/matches/:id/moves', { id }, { query: { status, ...page }, signal }), pages);
  opsApproveMove = (id: string) => this.send('POST /api/v1/ops/moves/:id/approve', { id }, undefined);
  opsRejectMove = (id: string) => this.send('POST /api/v1/ops/moves/:id/reject', { id }, undefined);
  opsPolicies = (signal?: AbortSignal) => this.get('GET /api/v1/ops/quota-policies', {}, { signal });
  opsCheckPolicy = (id: string, policy: string) => this.send('POST /api/v1/ops/matches/:id/quotas/check', { id }, { policy });

  /**
   * Tells the payment sandbox, which simulates the card provider, how the payment ends. Sent once, without the headers of the
   * caller and without an Idempotency-Key.
   */
  async simulatePayment(confirmUrl: string, outcome: SandboxOutcome): Promise<void> {
    let response: Response;
    try {
      response = await fetch(confirmUrl, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcome }),
        signal: AbortSignal.timeout(30_000),
      });
    } catch {
      throw new Problem('UNREACHABLE', 0);
    }
    if (!response.ok) throw await readProblem(response);
  }

  private get<R extends PageRoute<'GET'>>(
    route: R,
    params: RouteParams<R>,
    { query, signal }: { query?: RouteQuery<R>; signal?: AbortSignal },
  ): Promise<RouteAnswer<R>> {
    return this.client.get(this.url(route, params, query), { role: roleOf(route), signal });
  }

  private send<R extends PageRoute<'POST' | 'PUT' | 'PATCH'>>(
    route: R,
    params: RouteParams<R>,
    body: RouteBody<R>,
    headers: Record<string, string> = {},
  ): Promise<RouteAnswer<R>> {
    const method = route.slice(0, route.indexOf(' ')) as 'POST' | 'PUT' | 'PATCH';
    return this.client.postOnce(method, this.url(route, params), body, { headers, role: roleOf(route) });
  }

  private delete<R extends PageRoute<'DELETE'>>(route: R, params: RouteParams<R>): Promise<void> {
    return this.client.delete(this.url(route, params), { role: roleOf(route) });
  }

  private url<R extends PageRoute>(route: R, params: RouteParams<R>, query?: RouteQuery<R>): string {
    const values: Record<string, string> = params;
    const path = route
      .slice(route.indexOf('/'))
      .replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
    const origin = path.startsWith('/api/v1/queue/') ? this.queueOrigin : '';
    const search = String(new URLSearchParams(query as Record<string, string> | undefined));
    return `${origin}${path}${search && `?${search}`}`;
  }
}

function roleOf(route: PageRoute): Role | undefined {
  if (route.includes('/api/v1/ops/')) return 'ops';
  return /\/api\/v1\/(?:quotas|invitations\/:id)/.test(route) ? 'partner' : undefined;
}

/** The first `count` pages of a list as one list. */
async function readPages<Item>(
  readPage: (page: { limit: string; cursor?: string }) => Promise<{ items: Item[]; next_cursor: string | null }>,
  count: number,
): Promise<{ items: Item[]; isMore: boolean }> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let read = 0; read < count && (read === 0 || cursor !== null); read += 1) {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(cursor === null ? { limit } : { limit, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return { items, isMore: cursor !== null };
}
