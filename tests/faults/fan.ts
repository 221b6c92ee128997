import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, History, Request } from './history.ts';
import type { Replica } from './replica.ts';

/** Codes of temporary refusals, after which the fan sends the same request again with the same key. */
const RETRYABLE_CODES = new Set(['IDEMPOTENCY_KEY_IN_USE', 'SEATS_BUSY']);
const PAUSE_MS = 150;

/** A match on sale. */
export interface Match {
  readonly id: string;
  readonly sectors: readonly { readonly id: string; readonly name: string }[];
}

/** A hold that a fan got: its reservation id and its seats. */
export interface Held {
  readonly id: string;
  readonly seatIds: readonly string[];
}

/** An order that a fan created: its id and the id of its payment intent. */
export interface Ordered {
  readonly orderId: string;
  readonly intentId: string;
}

/** How long a fan waits and repeats a request. */
export interface RetryLimits {
  /** Timeout of one request. */
  readonly answerMs: number;
  /** For how long the fan sends the same request again before giving up. */
  readonly totalMs: number;
}

interface Sent {
  readonly path: string;
  readonly userId: string;
  readonly roles: string | undefined;
  readonly key?: string;
  readonly body?: unknown;
}

const DEFAULT_RETRY_LIMITS: RetryLimits = { answerMs: 60_000, totalMs: 90_000 };

/** A new random idempotency key. */
export function newKey(): string {
  return randomUUID().replaceAll('-', '');
}

/** Buys like a correct client: one idempotency key for each request, sent again until an answer arrives. */
export class Fan {
  readonly userId = randomUUID();
  retryLimits: RetryLimits = DEFAULT_RETRY_LIMITS;
  /** Session token of the fan's turn, if the match has a waiting room. */
  sessionToken: string | undefined;
  /** Roles of the caller; undefined: an ordinary fan. */
  roles: string | undefined;
  readonly #history: History;
  /** The replica that receives the next request. */
  readonly #replica: () => Replica | undefined;

  constructor(history: History, replica: () => Replica | undefined) {
    this.#history = history;
    this.#replica = replica;
  }

  holdRequest(
    match: Match,
    options: { sector?: number; quantity?: number; seatIds?: readonly string[]; key?: string } = {},
  ): Request {
    const { sector = 0, quantity = 2, seatIds, key } = options;
    const body = seatIds ? { seat_ids: seatIds } : { sector_id: match.sectors[sector]?.id, quantity };
    return this.#request('hold', `/api/v1/matches/${match.id}/reservations`, body, key);
  }

  checkoutRequest(held: Held): Request {
    const holders = held.seatIds.map((seat_id, index) => ({ seat_id, name: `Fan ${index + 1}` }));
    return this.#request('checkout', `/api/v1/reservations/${held.id}/checkout`, { holders, email: 'ana@example.hr' });
  }

  /** Any POST with an idempotency key. `name`: what the audit checks: `move`, `claim`, or `prepare` for nothing. */
  request(name: string, path: string, body: unknown): Request {
    return this.#request(name, `/api/v1${path}`, body);
  }

  async hold(match: Match, options: Parameters<Fan['holdRequest']>[1] = {}): Promise<Held | undefined> {
    const answer = await this.sendUntilAnswered(this.holdRequest(match, options));
    return answer.status === 201 ? readHold(answer) : undefined;
  }

  async checkOut(held: Held): Promise<Ordered | undefined> {
    const answer = await this.sendUntilAnswered(this.checkoutRequest(held));
    return answer.status < 300 && answer.status > 0 ? readOrder(answer) : undefined;
  }

  /** Pays through the sandbox API and waits until the order is complete. Resolves to false if it takes longer than `retryLimits`. */
  async pay({ orderId, intentId }: Ordered): Promise<boolean> {
    const giveUpAt = Date.now() + this.retryLimits.totalMs;
    const url = `/api/v1/sandbox/payments/${intentId}/confirm`;
    while ((await this.send('POST', url, { body: { outcome: 'succeeded' } })).status !== 202) {
      if (Date.now() > giveUpAt) return false;
      await sleep(PAUSE_MS);
    }
    return this.isComplete(orderId, giveUpAt);
  }

  async isComplete(orderId: string, giveUpAt: number): Promise<boolean> {
    for (;;) {
      const answer = await this.send('GET', `/api/v1/orders/${orderId}`);
      const status = answer.status === 200 ? (JSON.parse(answer.text) as { status: string }).status : undefined;
      if (status === 'completed') this.#history.completed.add(orderId);
      if (status && status !== 'awaiting_payment') return status === 'completed';
      if (Date.now() > giveUpAt) return false;
      await sleep(PAUSE_MS);
    }
  }

  releaseReservation(reservationId: string): Promise<Answer> {
    return this.send('DELETE', `/api/v1/reservations/${reservationId}`);
  }

  /** A whole purchase: hold, checkout, payment. Returns the order once it is complete. */
  async buy(match: Match, options: Parameters<Fan['holdRequest']>[1] = {}): Promise<Ordered | undefined> {
    const held = await this.hold(match, options);
    const ordered = held && (await this.checkOut(held));
    return ordered && (await this.pay(ordered)) ? ordered : undefined;
  }

  /** Sends the same request with the same key until it gets a final answer, each time to the next replica. */
  async sendUntilAnswered(request: Request): Promise<Answer> {
    const giveUpAt = Date.now() + this.retryLimits.totalMs;
    for (;;) {
      const answer = await this.sendOnce(request);
      const isFinal = answer.status > 0 && answer.status < 500 && !RETRYABLE_CODES.has(answer.code);
      if (isFinal || Date.now() > giveUpAt) return answer;
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }

  /** Sends the request once, as the caller of the request, and adds the answer to the request. */
  async sendOnce(request: Request, replica = this.#replica()): Promise<Answer> {
    const answer = await this.#fetch('POST', request, replica);
    request.answers.push(answer);
    return answer;
  }

  async send(method: 'GET' | 'POST' | 'DELETE', path: string, sent: { body?: unknown } = {}): Promise<Answer> {
    const answer = await this.#fetch(method, { path, userId: this.userId, roles: this.roles, ...sent }, this.#replica());
    this.#history.unkeyedAnswers.push(answer);
    return answer;
  }

  #request(name: string, path: string, body: unknown, key = newKey()): Request {
    const request = { name, userId: this.userId, roles: this.roles, path, key, body, answers: [] };
    this.#history.requests.push(request);
    return request;
  }

  async #fetch(method: string, sent: Sent, replica?: Replica): Promise<Answer> {
    const [sentAt, begunAt] = [Date.now(), performance.now()];
    const ms = (): number => performance.now() - begunAt;
    const headers = {
      'x-mock-user-id': sent.userId,
      ...(sent.roles ? { 'x-mock-roles': sent.roles } : {}),
      ...(sent.key ? { 'idempotency-key': sent.key } : {}),
      ...(this.sessionToken ? { 'x-purchase-session': this.sessionToken } : {}),
      ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    try {
      if (!replica) throw new Error('no replica is alive');
      const body = sent.body === undefined ? {} : { body: JSON.stringify(sent.body) };
      const signal = AbortSignal.timeout(this.retryLimits.answerMs);
      const response = await fetch(`${replica.url}${sent.path}`, { method, headers, ...body, signal });
      const text = await response.text();
      const code = response.status >= 400 ? codeIn(text) : '';
      const replayed = response.headers.get('idempotency-replayed') === 'true';
      return { status: response.status, code, text, replayed, sentAt, ms: ms() };
    } catch (error) {
      return { status: 0, code: String(error), text: '', replayed: false, sentAt, ms: ms() };
    }
  }
}

/** Reads the hold from the answer to a hold request. */
export function readHold({ text }: Answer): Held {
  const { id, seats } = JSON.parse(text) as { id: string; seats: { seat_id: string }[] };
  return { id, seatIds: seats.map(({ seat_id }) => seat_id) };
}

/** Reads the order from the answer to a checkout request. */
export function readOrder({ text }: Answer): Ordered {
  const { order_id, payment } = JSON.parse(text) as { order_id: string; payment: { intent_id: string } };
  return { orderId: order_id, intentId: payment.intent_id };
}

function codeIn(text: string): string {
  try {
    return String((JSON.parse(text) as { code?: unknown }).code);
  } catch {
    return 'none';
  }
}
