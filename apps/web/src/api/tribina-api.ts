import type { Caller, StartupConfig } from './caller.ts';
import { Client } from './client.ts';
import { applySeatAnswer, SeatCache } from './seat-cache.ts';
import { Problem, readProblem } from './problem.ts';
import type {
  BlacklistEntry,
  CheckoutRequest,
  HoldRequest,
  Match,
  OpsMatch,
  OpsOrder,
  Order,
  Page,
  PaymentOutcome,
  CheckedOutOrder,
  QueueEntry,
  QueueStatus,
  SalesReport,
  Reservation,
  SaleAction,
  SeatChanges,
  SeatList,
  Sector,
  Ticket,
} from './types.ts';

const v1 = '/api/v1';

/** All API calls of the page. */
export class TribinaApi {
  private readonly client: Client;
  private readonly queueUrl: string;
  private readonly seatCache = new SeatCache();

  constructor(startupConfig: StartupConfig, caller: Caller) {
    this.client = new Client(caller);
    this.queueUrl = `${startupConfig.queue_url.replace(/\/$/, '')}/api/v1/queue`;
  }

  // Catalogue
  matches = (signal?: AbortSignal) => this.client.get<Page<Match>>(`${v1}/matches?limit=100`, { signal });
  match = (id: string, signal?: AbortSignal) => this.client.get<Match>(`${v1}/matches/${id}`, { signal });
  sectors = (matchId: string, signal?: AbortSignal) =>
    this.client.get<{ items: Sector[] }>(`${v1}/matches/${matchId}/sectors`, { signal });
  seats = async (matchId: string, sectorId: string, signal?: AbortSignal): Promise<SeatList> => {
    const cached = this.seatCache.get(sectorId);
    const query = cached ? `?since=${cached.etag}` : '';
    const url = `${v1}/matches/${matchId}/sectors/${sectorId}/seats${query}`;
    const { value, etag } = await this.client.getWithEtag<SeatList | SeatChanges>(url, signal);
    const list = applySeatAnswer(cached?.list, value);
    return etag ? this.seatCache.store(sectorId, { etag, list }) : list;
  };
  availabilityUrl = (matchId: string) => `${v1}/matches/${matchId}/availability`;

  // Waiting room
  joinQueue = (matchId: string, receipt?: string) =>
    this.client.post<QueueEntry>(`${this.queueUrl}/${matchId}/join`, receipt ? { receipt } : {});
  queueEntry = (matchId: string, signal?: AbortSignal) =>
    this.client.get<QueueEntry>(`${this.queueUrl}/${matchId}/position`, { signal });
  leaveQueue = (matchId: string) => this.client.delete(`${this.queueUrl}/${matchId}`);
  queueStatus = (matchId: string, signal?: AbortSignal) =>
    this.client.get<QueueStatus>(`${this.queueUrl}/${matchId}/status`, { signal });

  // Purchase
  hold = (matchId: string, request: HoldRequest, sessionToken?: string) =>
    this.client.postOnce<Reservation>('POST', `${v1}/matches/${matchId}/reservations`, request, {
      headers: sessionToken ? { 'X-Purchase-Session': sessionToken } : {},
    });
  reservation = (id: string, signal?: AbortSignal) => this.client.get<Reservation>(`${v1}/reservations/${id}`, { signal });
  release = (id: string) => this.client.delete(`${v1}/reservations/${id}`);
  checkout = (reservationId: string, request: CheckoutRequest) =>
    this.client.postOnce<CheckedOutOrder>('POST', `${v1}/reservations/${reservationId}/checkout`, request);
  order = (id: string, signal?: AbortSignal) => this.client.get<Order>(`${v1}/orders/${id}`, { signal });

  // Tickets
  tickets = (signal?: AbortSignal) => this.client.get<Page<Ticket>>(`${v1}/tickets?limit=100`, { signal });
  ticket = (id: string, signal?: AbortSignal) => this.client.get<Ticket>(`${v1}/tickets/${id}`, { signal });
  ticketQr = (id: string, signal?: AbortSignal) => this.client.getBlob(`${v1}/tickets/${id}/qr.svg`, signal);

  // Operators
  opsMatches = (signal?: AbortSignal) => this.client.get<Page<OpsMatch>>(`${v1}/ops/matches?limit=100`, { role: 'ops', signal });
  opsChangeSale = (matchId: string, action: SaleAction, reason?: string) =>
    this.client.postOnce<unknown>('POST', `${v1}/ops/matches/${matchId}/sale`, reason ? { action, reason } : { action }, {
      role: 'ops',
    });
  opsChangeQueueLimits = (matchId: string, limits: { processing_rate?: number; max_open_windows?: number }) =>
    this.client.postOnce<unknown>('PUT', `${v1}/ops/matches/${matchId}/queue`, limits, { role: 'ops' });
  opsReport = (matchId: string, signal?: AbortSignal) =>
    this.client.get<SalesReport>(`${v1}/ops/matches/${matchId}/report`, { role: 'ops', signal });

  opsCancelMatch = (matchId: string, reason: string) =>
    this.client.postOnce<unknown>('POST', `${v1}/ops/matches/${matchId}/cancel`, { reason }, { role: 'ops' });
  opsOrders = (matchId: string, text: string, signal?: AbortSignal) =>
    this.client.get<Page<OpsOrder>>(`${v1}/ops/orders?match_id=${matchId}&q=${encodeURIComponent(text)}`, {
      role: 'ops',
      signal,
    });
  opsRefund = (orderId: string, ticketIds?: string[]) =>
    this.client.postOnce<{ refund: { amount_cents: number } }>(
      'POST',
      `${v1}/ops/orders/${orderId}/refund`,
      ticketIds ? { ticket_ids: ticketIds } : {},
      { role: 'ops' },
    );
  opsBlacklist = (signal?: AbortSignal) =>
    this.client.get<Page<BlacklistEntry>>(`${v1}/ops/blacklist?limit=100`, { role: 'ops', signal });
  opsAddToBlacklist = (entry: { user_id: string; reason: string; until?: string }) =>
    this.client.postOnce<unknown>('POST', `${v1}/ops/blacklist`, entry, { role: 'ops' });
  opsRemoveFromBlacklist = (userId: string) => this.client.delete(`${v1}/ops/blacklist/${userId}`, { role: 'ops' });

  /**
   * Tells the payment sandbox, which simulates the card provider, how the payment ends. Sent once, without the headers of the
   * caller and without an Idempotency-Key.
   */
  async simulatePayment(confirmUrl: string, outcome: PaymentOutcome): Promise<void> {
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
}
