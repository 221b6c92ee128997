import { z } from 'zod';
import { CALL_TIMEOUT_MS } from '#platform/sending/call-timeout';
import { post, type HttpAnswer } from '#platform/sending/http-call';
import { NoAnswer, ProviderDown } from '#platform/sending/send-errors';
import { PushProvider, type DeviceResult, type OutgoingPush } from '../application/ports.ts';
import { FcmAccess, type ServiceAccount } from './fcm-access.ts';

/** Requests of one call under way at the same time; HTTP v1 takes one token a request. */
const REQUESTS_AT_ONCE = 100;
/** When a 429 does not say how long. */
const PAUSE_MS = 1000;
/** FCM keeps an undelivered push four weeks at most. */
const LONGEST_LIFE_SECONDS = 28 * 86_400;

const refusal = z.object({
  error: z.object({
    status: z.string().optional(),
    message: z.string().optional(),
    details: z
      .array(
        z.object({
          errorCode: z.string().optional(),
          fieldViolations: z.array(z.object({ field: z.string().optional() })).optional(),
        }),
      )
      .optional(),
  }),
});

/** PUSH_PROVIDER=fcm: Firebase Cloud Messaging, HTTP v1. */
export class Fcm extends PushProvider {
  private readonly access: FcmAccess;
  private readonly url: string;
  private readonly timeoutMs: number;
  /** A push has arrived: our account and project are right, so a mismatch is the token's. */
  private isProven = false;

  constructor(options: { readonly base: string; readonly account: ServiceAccount; readonly timeoutMs?: number }) {
    super();
    this.timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;
    this.access = new FcmAccess(options.account, this.timeoutMs);
    this.url = `${options.base}/v1/projects/${options.account.project_id}/messages:send`;
  }

  async send(push: OutgoingPush): Promise<readonly DeviceResult[]> {
    const results: DeviceResult[] = [];
    let next = 0;
    const sender = async (): Promise<void> => {
      for (let index = next++; index < push.tokens.length; index = next++) {
        results[index] = await this.sendOne(push, push.tokens[index] ?? '');
      }
    };
    await Promise.all(Array.from({ length: Math.min(REQUESTS_AT_ONCE, push.tokens.length) }, sender));
    return results;
  }

  private async sendOne(push: OutgoingPush, token: string): Promise<DeviceResult> {
    try {
      const first = await this.request(push, token);
      // An access token may be withdrawn before its time: once more with a new one.
      const isWithdrawn = first.status === 401 && codesOf(first).errorCode === '';
      const result = resultOf(isWithdrawn ? await this.request(push, token) : first, this.isProven);
      if (result.kind === 'sent') this.isProven = true;
      return result;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NoAnswer) return { kind: 'unanswered', reason };
      return { kind: error instanceof ProviderDown ? 'provider down' : 'failed', reason };
    }
  }

  private async request(push: OutgoingPush, token: string): Promise<HttpAnswer> {
    const accessToken = await this.access.accessToken();
    const answer = await post({
      url: this.url,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: messageFor(push, token, Date.now()) }),
      timeoutMs: this.timeoutMs,
    });
    if (answer.status === 401) this.access.forget(accessToken);
    return answer;
  }
}

function messageFor({ title, body, data, urgent, usefulUntil }: OutgoingPush, token: string, nowMs: number): object {
  const until = usefulUntil ? Math.floor(usefulUntil.getTime() / 1000) : undefined;
  const ttl = until === undefined ? undefined : Math.min(LONGEST_LIFE_SECONDS, Math.max(0, until - Math.floor(nowMs / 1000)));
  return {
    token,
    notification: { title, body },
    data,
    // A device that is off must not show "your turn" tomorrow: the provider forgets it with the turn.
    android: { priority: urgent ? 'HIGH' : 'NORMAL', ...(ttl === undefined ? {} : { ttl: `${ttl}s` }) },
    apns: {
      headers: { 'apns-priority': urgent ? '10' : '5', ...(until === undefined ? {} : { 'apns-expiration': String(until) }) },
    },
  };
}

interface Codes {
  readonly errorCode: string;
  readonly status: string;
  /** What an INVALID_ARGUMENT is about. FCM names the field of a bad message, and of a bad token only sometimes. */
  readonly isTokenMalformed: boolean;
}

function codesOf({ body }: HttpAnswer): Codes {
  const error = refusal.safeParse(body).data?.error;
  const details = error?.details ?? [];
  const fields = details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);
  const isTooBig = /too (big|large)/i.test(error?.message ?? '');
  return {
    errorCode: details.find((detail) => detail.errorCode)?.errorCode ?? '',
    status: error?.status ?? '',
    isTokenMalformed: fields.includes('message.token') || (fields.length === 0 && !isTooBig),
  };
}

/**
 * By FCM's own error code. Its sentences quote the token and are not kept. `isProven`: with the wrong account every token is a
 * SENDER_ID_MISMATCH, and that must not cost all fans their devices.
 */
export function resultOf(answer: HttpAnswer, isProven: boolean): DeviceResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const { errorCode, status: grpcStatus, isTokenMalformed } = codesOf(answer);
  const reason = `fcm answered ${[status, errorCode || grpcStatus].filter(Boolean).join(' ')}`;
  if (status === 429) return { kind: 'too fast', forMs: answer.retryAfterMs ?? PAUSE_MS };
  if (status >= 500) return { kind: 'provider down', reason };
  if (errorCode === 'UNREGISTERED') return { kind: 'dead' };
  if (errorCode === 'SENDER_ID_MISMATCH') return isProven ? { kind: 'dead' } : { kind: 'failed', reason };
  if (status === 400)
    return errorCode === 'INVALID_ARGUMENT' && isTokenMalformed ? { kind: 'dead' } : { kind: 'refused', reason };
  // 401 THIRD_PARTY_AUTH_ERROR, 403 without a code, 404 without one: our certificate, account or project.
  return { kind: 'failed', reason };
}
