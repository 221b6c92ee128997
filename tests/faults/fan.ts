import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, History, Request } from './history.ts';
import type { Replica } from './replica.ts';

/** The moment was bad, or nobody knows: the same request again, with the same key. */
const ASK_AGAIN = new Set(['IDEMPOTENCY_KEY_IN_USE', 'SEATS_BUSY']);
const PAUSE_MS = 150;

export interface Match {
  readonly id: string;
  readonly sectors: readonly { readonly id: string; readonly name: string }[];
}

export interface Held {
  readonly id: string;
  readonly seatIds: readonly string[];
}

export interface Ordered {
  readonly orderId: string;
  readonly intentId: string;
}

export interface Patience {
  /** How long one answer is waited for. */
  readonly answerMs: number;
  /** How long the same request is sent again before the fan gives up. */
  readonly totalMs: number;
}

interface Sent {
  readonly path: string;
  readonly userId: string;
  readonly key?: string;
  readonly body?: unknown;
}

const ORDINARY: Patience = { answerMs: 60_000, totalMs: 90_000 };

export function newKey(): string {
  return randomUUID().replaceAll('-', '');
}

/** Buys as a well-made client does: one key for each thing it wants, sent again until somebody answers. */
export class Fan {
  readonly userId = randomUUID();
  patience: Patience = ORDINARY;
  /** The proof of the fan's turn, where the match has a waiting room. */
  turn: string | undefined;
  readonly #history: History;
  /** Where the next request goes. */
  readonly #replica: () => Replica | undefined;

  constructor(history: History, replica: () => Replica | undefined) {
    this.#history = history;
    this.#replica = replica;
  }

  holding(match: Match, wish: { sector?: number; quantity?: number; seatIds?: readonly string[]; key?: string } = {}): Request {
    const { sector = 0, quantity = 2, seatIds, key } = wish;
    const body = seatIds ? { seat_ids: seatIds } : { sector_id: match.sectors[sector]?.id, quantity };
    return this.#request('hold', `/api/v1/matches/${match.id}/reservations`, body, key);
  }

  checkingOut(held: Held): Request {
    const holders = held.seatIds.map((seat_id, index) => ({ seat_id, name: `Fan ${index + 1}` }));
    return this.#request('checkout', `/api/v1/reservations/${held.id}/checkout`, { holders, email: 'ana@example.hr' });
  }

  async hold(match: Match, wish: Parameters<Fan['holding']>[1] = {}): Promise<Held | undefined> {
    const answer = await this.insist(this.holding(match, wish));
    return answer.status === 201 ? heldIn(answer) : undefined;
  }

  async checkOut(held: Held): Promise<Ordered | undefined> {
    const answer = await this.insist(this.checkingOut(held));
    return answer.status < 300 && answer.status > 0 ? orderedIn(answer) : undefined;
  }

  /** Pays at the sandbox's page and waits for the tickets; false when they did not come in time. */
  async pay({ orderId, intentId }: Ordered): Promise<boolean> {
    const giveUpAt = Date.now() + this.patience.totalMs;
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

  giveBack(reservationId: string): Promise<Answer> {
    return this.send('DELETE', `/api/v1/reservations/${reservationId}`);
  }

  /** A whole purchase; the order when its tickets are there. */
  async buy(match: Match, wish: Parameters<Fan['holding']>[1] = {}): Promise<Ordered | undefined> {
    const held = await this.hold(match, wish);
    const ordered = held && (await this.checkOut(held));
    return ordered && (await this.pay(ordered)) ? ordered : undefined;
  }

  /** The same request with the same key until it is answered for good, by whoever is there. */
  async insist(request: Request): Promise<Answer> {
    const giveUpAt = Date.now() + this.patience.totalMs;
    for (;;) {
      const answer = await this.ask(request);
      const isFinal = answer.status > 0 && answer.status < 500 && !ASK_AGAIN.has(answer.code);
      if (isFinal || Date.now() > giveUpAt) return answer;
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }

  /** Once, in the name of whoever it belongs to. */
  async ask(request: Request, replica = this.#replica()): Promise<Answer> {
    const answer = await this.#fetch('POST', request, replica);
    request.answers.push(answer);
    return answer;
  }

  async send(method: 'GET' | 'POST' | 'DELETE', path: string, sent: { body?: unknown } = {}): Promise<Answer> {
    const answer = await this.#fetch(method, { path, userId: this.userId, ...sent }, this.#replica());
    this.#history.others.push(answer);
    return answer;
  }

  #request(name: string, path: string, body: unknown, key = newKey()): Request {
    const request = { name, userId: this.userId, path, key, body, answers: [] };
    this.#history.requests.push(request);
    return request;
  }

  async #fetch(method: string, sent: Sent, replica?: Replica): Promise<Answer> {
    const [sentAt, begunAt] = [Date.now(), performance.now()];
    const ms = (): number => performance.now() - begunAt;
    const headers = {
      'x-mock-user-id': sent.userId,
      ...(sent.key ? { 'idempotency-key': sent.key } : {}),
      ...(this.turn ? { 'x-purchase-session': this.turn } : {}),
      ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    try {
      if (!replica) throw new Error('nobody is there');
      const body = sent.body === undefined ? {} : { body: JSON.stringify(sent.body) };
      const signal = AbortSignal.timeout(this.patience.answerMs);
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

export function heldIn({ text }: Answer): Held {
  const { id, seats } = JSON.parse(text) as { id: string; seats: { seat_id: string }[] };
  return { id, seatIds: seats.map(({ seat_id }) => seat_id) };
}

export function orderedIn({ text }: Answer): Ordered {
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
