import type { Caller, StartUp } from './caller.ts';
import { Client } from './client.ts';
import { afterAnswer, SeatMemory } from './known-seats.ts';
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
  Report,
  Reservation,
  SaleAction,
  SeatChanges,
  SeatList,
  Sector,
  Ticket,
} from './types.ts';

const v1 = '/api/v1';

/** Every call the page makes, by name. */
export class Tribina {
  private readonly client: Client;
  private readonly queueUrl: string;
  private readonly seatMemory = new SeatMemory();

  constructor(startUp: StartUp, caller: Caller) {
    this.client = new Client(caller);
    this.queueUrl = `${startUp.queue_url.replace(/\/$/, '')}/api/v1/queue`;
  }

  // Catalogue
  matches = (signal?: AbortSignal) => this.client.get<Page<Match>>(`${v1}/matches?limit=100`, { signal });
  match = (id: string, signal?: AbortSignal) => this.client.get<Match>(`${v1}/matches/${id}`, { signal });
  sectors = (matchId: string, signal?: AbortSignal) =>
    this.client.get<{ items: Sector[] }>(`${v1}/matches/${matchId}/sectors`, { signal });
  seats = async (matchId: string, sectorId: string, signal?: AbortSignal): Promise<SeatList> => {
    const known = this.seatMemory.of(sectorId);
    const query = known ? `?since=${known.tag}` : '';
    const url = `${v1}/matches/${matchId}/sectors/${sectorId}/seats${query}`;
    const { value, tag } = await this.client.getTagged<SeatList | SeatChanges>(url, signal);
    const list = afterAnswer(known?.list, value);
    return tag ? this.seatMemory.keep(sectorId, { tag, list }) : list;
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
  hold = (matchId: string, wish: HoldRequest, sessionToken?: string) =>
    this.client.postOnce<Reservation>('POST', `${v1}/matches/${matchId}/reservations`, wish, {
      headers: sessionToken ? { 'X-Purchase-Session': sessionToken } : {},
    });
  reservation = (id: string, signal?: AbortSignal) => this.client.get<Reservation>(`${v1}/reservations/${id}`, { signal });
  release = (id: string) => this.client.delete(`${v1}/reservations/${id}`);
  checkout = (reservationId: string, wish: CheckoutRequest) =>
    this.client.postOnce<CheckedOutOrder>('POST', `${v1}/reservations/${reservationId}/checkout`, wish);
  order = (id: string, signal?: AbortSignal) => this.client.get<Order>(`${v1}/orders/${id}`, { signal });

  // Tickets
  tickets = (signal?: AbortSignal) => this.client.get<Page<Ticket>>(`${v1}/tickets?limit=100`, { signal });
  ticket = (id: string, signal?: AbortSignal) => this.client.get<Ticket>(`${v1}/tickets/${id}`, { signal });
  ticketQr = (id: string, signal?: AbortSignal) => this.client.getBlob(`${v1}/tickets/${id}/qr.svg`, signal);

  // Operators
  opsMatches = (signal?: AbortSignal) => this.client.get<Page<OpsMatch>>(`${v1}/ops/matches?limit=100`, { role: 'ops', signal });
  opsSale = (matchId: string, action: SaleAction, reason?: string) =>
    this.client.postOnce<unknown>('POST', `${v1}/ops/matches/${matchId}/sale`, reason ? { action, reason } : { action }, {
      role: 'ops',
    });
  opsQueue = (matchId: string, limits: { processing_rate?: number; max_open_windows?: number }) =>
    this.client.postOnce<unknown>('PUT', `${v1}/ops/matches/${matchId}/queue`, limits, { role: 'ops' });
  opsReport = (matchId: string, signal?: AbortSignal) =>
    this.client.get<Report>(`${v1}/ops/matches/${matchId}/report`, { role: 'ops', signal });

  opsCancel = (matchId: string, reason: string) =>
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
  opsList = (entry: { user_id: string; reason: string; until?: string }) =>
    this.client.postOnce<unknown>('POST', `${v1}/ops/blacklist`, entry, { role: 'ops' });
  opsLift = (userId: string) => this.client.delete(`${v1}/ops/blacklist/${userId}`, { role: 'ops' });

  /** The sandbox plays the card provider: it knows no fan and takes no key. Not repeated unasked, like any payment. */
  async playPayment(confirmUrl: string, outcome: PaymentOutcome): Promise<void> {
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
