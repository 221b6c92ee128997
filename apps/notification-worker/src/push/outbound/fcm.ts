import { z } from 'zod';
import { CALL_TIMEOUT_MS } from '#messaging/sending/call-timeout';
import { post, type ProviderAnswer } from '#messaging/sending/post-to-provider';
import { NoAnswer, ProviderDown } from '#messaging/sending/send-errors';
import { PushProvider, type DeviceResult, type OutgoingPush } from '../application/ports.ts';
import { FcmAccess, type ServiceAccount } from './fcm-access.ts';

/** The number of requests that one `send` makes at the same time. FCM's HTTP v1 API takes only one token a request. */
const MAX_CONCURRENT_REQUESTS = 100;
/** FCM keeps an undelivered push at most four weeks. */
const MAX_TTL_SECONDS = 28 * 86_400;

const errorBody = z.object({
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

/** PUSH_PROVIDER=fcm: sends through the HTTP v1 API of Firebase Cloud Messaging. */
export class Fcm extends PushProvider {
  private readonly access: FcmAccess;
  private readonly url: string;
  private readonly timeoutMs: number;
  /**
   * True after the first successful push. That push proves that our account and project are right, so a later SENDER_ID_MISMATCH
   * means a bad token.
   */
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
    const sendNext = async (): Promise<void> => {
      for (let index = next++; index < push.tokens.length; index = next++) {
        results[index] = await this.sendOne(push, push.tokens[index] ?? '');
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_REQUESTS, push.tokens.length) }, sendNext));
    return results;
  }

  private async sendOne(push: OutgoingPush, token: string): Promise<DeviceResult> {
    try {
      const first = await this.request(push, token);
      // An access token may be revoked before it expires: try once more with a new one.
      const isRevoked = first.status === 401 && errorDetailsOf(first).errorCode === '';
      const result = deviceResultOf(isRevoked ? await this.request(push, token) : first, this.isProven);
      if (result.kind === 'sent') this.isProven = true;
      return result;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NoAnswer) return { kind: 'unanswered', reason };
      return { kind: error instanceof ProviderDown ? 'provider down' : 'failed', reason };
    }
  }

  private async request(push: OutgoingPush, token: string): Promise<ProviderAnswer> {
    const accessToken = await this.access.accessToken();
    const answer = await post({
      url: this.url,
      headers: { authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ message: messageFor(push, token, Date.now()) }),
      timeoutMs: this.timeoutMs,
    });
    if (answer.status === 401) this.access.forget(accessToken);
    return answer;
  }
}

function messageFor({ title, body, data, urgent, usefulUntil }: OutgoingPush, token: string, nowMs: number): object {
  const until = usefulUntil ? Math.floor(usefulUntil.getTime() / 1000) : undefined;
  const ttl = until === undefined ? undefined : Math.min(MAX_TTL_SECONDS, Math.max(0, until - Math.floor(nowMs / 1000)));
  return {
    token,
    notification: { title, body },
    data,
    // With `ttl` FCM drops the push when it is no longer useful. Without this limit a device that was off would show "your turn"
    // the next day.
    android: { priority: urgent ? 'HIGH' : 'NORMAL', ...(ttl === undefined ? {} : { ttl: `${ttl}s` }) },
    apns: {
      headers: { 'apns-priority': urgent ? '10' : '5', ...(until === undefined ? {} : { 'apns-expiration': String(until) }) },
    },
  };
}

/**
 * Reads an error body. `isTokenMalformed`: an INVALID_ARGUMENT is about the token. FCM always names the field of a bad message, but
 * of a bad token only sometimes.
 */
function errorDetailsOf({ body }: ProviderAnswer): { errorCode: string; status: string; isTokenMalformed: boolean } {
  const error = errorBody.safeParse(body).data?.error;
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
 * Maps FCM's answer to the result of a device, by its error code. FCM's error texts contain the token and are dropped.
 * `isProven`: whether a push has succeeded before. Until then SENDER_ID_MISMATCH may mean that our account is wrong, and then the
 * tokens of all fans must not be deleted as dead.
 */
export function deviceResultOf(answer: ProviderAnswer, isProven: boolean): DeviceResult {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const { errorCode, status: grpcStatus, isTokenMalformed } = errorDetailsOf(answer);
  const reason = `fcm answered ${[status, errorCode || grpcStatus].filter(Boolean).join(' ')}`;
  if (status === 429) return { kind: 'too fast', forMs: answer.retryAfterMs };
  if (status >= 500) return { kind: 'provider down', reason };
  if (errorCode === 'UNREGISTERED') return { kind: 'dead' };
  if (errorCode === 'SENDER_ID_MISMATCH') return isProven ? { kind: 'dead' } : { kind: 'failed', reason };
  if (status === 400)
    return errorCode === 'INVALID_ARGUMENT' && isTokenMalformed ? { kind: 'dead' } : { kind: 'refused', reason };
  // 401 THIRD_PARTY_AUTH_ERROR, or 403 and 404 without a code, mean that our certificate, account or project is wrong.
  return { kind: 'failed', reason };
}
