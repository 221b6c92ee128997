import { callHttp, isSuccess } from '#platform/http-client/http-client';
import { IdempotencyCache } from '#platform/idempotency/idempotency-cache';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { HttpAdapterHost } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The path of the route that takes the requests, without the id. It is outside of /api, which the ingress routes. */
export const REHEARSAL_PATH = 'internal/rehearsals';

const AT_ONCE = 32;
const TIMEOUT_MS = 5000;

/**
 * Sends requests without effect to this process, over HTTP, and takes and forgets idempotency keys. Afterwards V8 has compiled the
 * path of a request through hooks, body parser, validation and answer, and Redis has the scripts of the keys.
 */
export class RehearsedRequests {
  private readonly keys: IdempotencyCache;

  constructor(
    private readonly http: HttpAdapterHost,
    redis: RedisConnection,
    private readonly internalSecret: string,
  ) {
    this.keys = new IdempotencyCache(redis);
  }

  async run(requests: number): Promise<void> {
    const url = await this.ownUrl();
    for (let sent = 0; sent < requests; sent += AT_ONCE) {
      const batch = Array.from({ length: AT_ONCE }, () => Promise.all([url && this.send(url), this.claimAndForget()]));
      await Promise.all(batch);
    }
  }

  /** Undefined in a process without an HTTP server. The server listens soon after the start of the tasks. */
  private async ownUrl(): Promise<string | undefined> {
    const server = (this.http.httpAdapter as HttpAdapterHost['httpAdapter'] | undefined)?.getHttpServer() as Server | undefined;
    if (!server) return undefined;
    if (!server.listening) await once(server, 'listening', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { address, family, port } = server.address() as AddressInfo;
    const isAnyAddress = address === '0.0.0.0' || address === '::';
    const host = isAnyAddress ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
    return `http://${host}:${port}/${REHEARSAL_PATH}`;
  }

  private async send(url: string): Promise<void> {
    const answer = await callHttp({
      method: 'POST',
      url: `${url}/${randomUUID()}`,
      headers: { 'x-internal-auth': this.internalSecret },
      body: JSON.stringify({ sector_id: randomUUID(), quantity: 2 }),
      timeoutMs: TIMEOUT_MS,
      limitBytes: 4096,
      whenLarger: 'cut',
    });
    if (!isSuccess(answer)) throw new Error(`a rehearsed request was answered with ${answer.status}`);
  }

  /** Without Redis nothing is rehearsed here: requests then work without it, too. */
  private async claimAndForget(): Promise<void> {
    const key = randomUUID().replaceAll('-', '');
    const claim = await this.keys.claim(key, key).catch(() => undefined);
    if (claim?.lock) await this.keys.forget(claim.lock, () => undefined);
  }
}
