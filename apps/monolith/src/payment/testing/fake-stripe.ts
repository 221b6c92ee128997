import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Intent {
  id: string;
  status: string;
  amount: number;
  currency: string;
  client_secret: string;
  metadata: Record<string, string>;
}

interface Refund {
  id: string;
  status: string;
  amount: number;
  payment_intent: string;
  metadata: Record<string, string>;
}

interface Reply {
  status: number;
  body: unknown;
}

/** How the fake of Stripe fails at its next request. The request has its effect before the failure only where the name says so. */
export type StripeFault =
  | 'hang'
  | 'hang after the effect'
  | 'reset'
  | 'reset after the effect'
  | 'trickle'
  | '429'
  | '500'
  | '503 outside the API'
  | '400 outside the API'
  | '404'
  | 'declined'
  | 'redirect'
  | 'not JSON'
  | 'other JSON'
  | 'huge';

/**
 * A fake of Stripe's documented API, as far as we use it: form bodies, the formats of errors, and idempotency keys, which replay
 * the first answer (also an error) and refuse other parameters. Tests read its intents and refunds.
 */
export class FakeStripe {
  readonly secretKey = 'sk_test_peer';
  readonly intents = new Map<string, Intent>();
  readonly refunds: Refund[] = [];
  /** One entry for each of the next requests; undefined means no fault. */
  readonly faults: (StripeFault | undefined)[] = [];
  readonly requests: string[] = [];
  private readonly keys = new Map<string, { request: string; reply: Reply }>();
  private server: Server | undefined;

  async start(): Promise<string> {
    this.server = createServer((request, response) => void this.handle(request, response));
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  /** Pays the intent as a fan on Stripe's page would. */
  pay(intentId: string): boolean {
    const intent = this.intents.get(intentId);
    if (intent?.status !== 'requires_payment_method') return false;
    intent.status = 'succeeded';
    return true;
  }

  /** Simulates that a day has passed, after which Stripe may forget idempotency keys. */
  forgetKeys(): void {
    this.keys.clear();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    this.requests.push(`${request.method} ${request.url}`);
    const fault = this.faults.shift();
    if (fault === 'hang') return;
    if (fault === 'reset') return void request.socket.resetAndDestroy();
    if (fault === '429') return send(response, 429, { error: { type: 'invalid_request_error', code: 'rate_limit' } });
    if (fault === '503 outside the API') return send(response, 503, '<html>upstream</html>');
    if (fault === '400 outside the API') return send(response, 400, '<html>Bad Request</html>');
    if (fault === '404') return send(response, 404, refusal(404).body);
    if (fault === 'declined') return send(response, 402, { error: { type: 'card_error', code: 'card_declined' } });
    if (fault === 'redirect') return void response.writeHead(307, { location: '/v1/elsewhere' }).end();
    const { replayed, reply } = this.answer(request, body, fault);
    if (fault === 'hang after the effect') return;
    if (fault === 'reset after the effect') return void request.socket.resetAndDestroy();
    if (fault === 'not JSON') return send(response, 200, 'all well');
    if (fault === 'other JSON') return send(response, 200, { id: 7 });
    if (fault === 'huge') return send(response, 200, { ...(reply.body as object), padding: 'x'.repeat(2 * 1024 * 1024) });
    if (fault === 'trickle') return void trickle(response, JSON.stringify(reply.body));
    send(response, reply.status, reply.body, replayed);
  }

  private answer(request: IncomingMessage, body: string, fault: StripeFault | undefined): { replayed: boolean; reply: Reply } {
    const notReplayed = (reply: Reply) => ({ replayed: false, reply });
    if (request.headers.authorization !== `Bearer ${this.secretKey}`) {
      return notReplayed(refusal(401, undefined, `Invalid API Key provided: ${request.headers.authorization}`));
    }
    const url = new URL(request.url ?? '/', 'http://peer');
    if (request.method === 'GET') return notReplayed(this.read(url));
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded')
      return notReplayed(refusal(400, 'parameter_unknown'));
    const key = request.headers['idempotency-key'] as string | undefined;
    const known = key === undefined ? undefined : this.keys.get(key);
    const requestText = `${url.pathname} ${body}`;
    if (known) {
      const isSame = known.request === requestText;
      return isSame
        ? { replayed: true, reply: known.reply }
        : notReplayed({
            status: 400,
            body: { error: { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used once' } },
          });
    }
    const reply: Reply =
      fault === '500'
        ? { status: 500, body: { error: { type: 'api_error' } } }
        : this.write(url.pathname, new URLSearchParams(body));
    if (key !== undefined) this.keys.set(key, { request: requestText, reply });
    return notReplayed(reply);
  }

  private read(url: URL): Reply {
    if (url.pathname !== '/v1/refunds') return refusal(404);
    const intentId = url.searchParams.get('payment_intent');
    if (!this.intents.has(intentId ?? '')) return refusal(404, 'resource_missing');
    return {
      status: 200,
      body: { object: 'list', has_more: false, data: this.refunds.filter((refund) => refund.payment_intent === intentId) },
    };
  }

  private write(path: string, form: URLSearchParams): Reply {
    if (path === '/v1/payment_intents') return this.createIntent(form);
    if (path === '/v1/refunds') return this.createRefund(form);
    const [, id] = /^\/v1\/payment_intents\/([^/]+)\/cancel$/.exec(path) ?? [];
    return id === undefined ? refusal(404) : this.cancel(id);
  }

  private createIntent(form: URLSearchParams): Reply {
    const amount = Number(form.get('amount'));
    if (amount < 50) return refusal(400, 'amount_too_small');
    if (amount > 99_999_999) return refusal(400, 'amount_too_large');
    const currency = form.get('currency') ?? '';
    if (!/^[a-z]{3}$/.test(currency)) return refusal(400, 'parameter_invalid_empty');
    const id = `pi_${randomBytes(12).toString('hex')}`;
    const intent: Intent = {
      id,
      amount,
      currency,
      status: 'requires_payment_method',
      client_secret: `${id}_secret_${randomBytes(12).toString('hex')}`,
      metadata: { order_id: form.get('metadata[order_id]') ?? '' },
    };
    this.intents.set(id, intent);
    return { status: 200, body: { object: 'payment_intent', livemode: false, ...intent } };
  }

  private createRefund(form: URLSearchParams): Reply {
    const intent = this.intents.get(form.get('payment_intent') ?? '');
    if (!intent) return refusal(404, 'resource_missing');
    if (intent.status !== 'succeeded') return refusal(400, 'payment_intent_unexpected_state');
    const refundedCents = this.refunds
      .filter(({ payment_intent }) => payment_intent === intent.id)
      .reduce((sum, { amount }) => sum + amount, 0);
    const amount = Number(form.get('amount'));
    if (refundedCents === intent.amount) return refusal(400, 'charge_already_refunded');
    if (amount > intent.amount - refundedCents) return refusal(400);
    const refund: Refund = {
      id: `re_${randomBytes(12).toString('hex')}`,
      status: 'succeeded',
      amount,
      payment_intent: intent.id,
      metadata: { refund_key: form.get('metadata[refund_key]') ?? '' },
    };
    this.refunds.push(refund);
    return { status: 200, body: { object: 'refund', ...refund } };
  }

  private cancel(id: string): Reply {
    const intent = this.intents.get(id);
    if (!intent) return refusal(404, 'resource_missing');
    if (intent.status !== 'requires_payment_method') return refusal(400, 'payment_intent_unexpected_state');
    intent.status = 'canceled';
    return { status: 200, body: { object: 'payment_intent', ...intent } };
  }
}

function refusal(status: number, code?: string, message = 'No.'): Reply {
  return { status, body: { error: { type: 'invalid_request_error', ...(code ? { code } : {}), message } } };
}

function send(response: ServerResponse, status: number, body: unknown, replayed = false): void {
  const isText = typeof body === 'string';
  response.writeHead(status, {
    'content-type': isText ? 'text/html' : 'application/json',
    'request-id': 'req_peer',
    ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
  });
  response.end(isText ? body : JSON.stringify(body));
}

/** Sends one byte every 20 ms: the connection is alive, but the answer does not arrive in time. */
async function trickle(response: ServerResponse, body: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const character of body) {
    if (response.destroyed) return;
    response.write(character);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  response.end();
}
