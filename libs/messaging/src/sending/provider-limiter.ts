import { HeldBack } from '../jobs/job-outcomes.ts';
import { newId } from '#platform/ids';
import { projectFile } from '#platform/project-root';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { RedisScript } from '#platform/redis/script';
import { setTimeout as pause } from 'node:timers/promises';
import { CALL_TIMEOUT_MS } from './call-timeout.ts';

const script = (name: string): RedisScript =>
  RedisScript.fromFile(projectFile('libs', 'messaging', 'src', 'sending', 'lua', `${name}.lua`));
const enter = script('enter');
const leave = script('leave');

/** Number of consecutive failed calls that opens the breaker (CONTRACT §7). */
const FAILURES_TO_OPEN = 20;
/** Time between two probe calls while the breaker is open (CONTRACT §7). */
const PROBE_INTERVAL_MS = 5000;
/** How long a queue pauses when Redis, which stores the counts of calls, does not answer. */
const NO_REDIS_PAUSE_MS = 1000;
/** The part of the rate limit that bulk sends never use, so that a turn notice (urgent) does not wait behind them. */
const URGENT_SHARE = 0.1;

/**
 * `bulk` sends leave a tenth of the rate limit free; `urgent` sends may use the whole limit, so that they do not wait behind bulk
 * sends.
 */
export type SendPriority = 'urgent' | 'bulk';

/** The outcomes of the calls that a permit allowed. Allowed calls that are not in these numbers were not made. */
export interface CallOutcomes {
  /** Number of calls with any answer except 5xx and 429. */
  readonly answered?: number;
  /** Number of calls with an answer 5xx or no answer. */
  readonly failed?: number;
  /** Number of calls with an answer 429, and how long all workers have to pause. */
  readonly rateLimited?: { readonly calls: number; readonly forMs: number };
}

/** Permission to make a number of calls to the provider. */
export interface CallPermit {
  readonly calls: number;
  /** Reports the outcomes of the calls. Resolves to true when the breaker is open: the provider is down. */
  leave(outcomes: CallOutcomes): Promise<boolean>;
}

/**
 * Thrown when Redis, which stores the counts of calls, does not answer, so that it is unknown whether the rate limit allows a
 * call.
 */
export class LimiterUnavailable extends HeldBack {}

/** Limits the rate of calls to a provider of mails or pushes, and stops them while the provider is down (breaker). */
export abstract class ProviderLimiter {
  /**
   * Waits until the rate limit allows at least one call. Returns a permit for 1 to `wanted` calls. Throws HeldBack while the
   * provider is down or has asked for a pause.
   */
  abstract enter(wanted: number, priority: SendPriority): Promise<CallPermit>;
}

/** Provider, rate limit and breaker of a SharedProviderLimiter. */
export interface ProviderLimiterOptions {
  readonly provider: string;
  readonly callsPerSecond: number;
  readonly onBreaker: (provider: string, state: 'opened' | 'closed') => void;
  readonly failuresToOpen?: number;
  readonly probeIntervalMs?: number;
  /** Maximum wait for the rate limit; after it `enter` throws HeldBack. Without this option `enter` waits without a limit. */
  readonly maxWaitMs?: number;
}

/**
 * A limiter that all workers share: the rate, the state of the breaker and the pause after a 429 are stored in two keys in Redis.
 */
export class SharedProviderLimiter extends ProviderLimiter {
  private readonly keys: readonly [string, string];
  /** The latest `enter` call of this process for each priority. The next one asks Redis when that call has ended. */
  private readonly lastRequests: Record<SendPriority, Promise<unknown>> = {
    urgent: Promise.resolve(),
    bulk: Promise.resolve(),
  };

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: ProviderLimiterOptions,
  ) {
    super();
    this.keys = [`{provider:${options.provider}}:calls`, `{provider:${options.provider}}:state`];
  }

  /**
   * In one process, the calls of the same priority ask Redis one at a time, in their order. A hundred waiting calls that poll in
   * parallel would be thousands of commands a second.
   */
  enter(wanted: number, priority: SendPriority): Promise<CallPermit> {
    const giveUpAt = Date.now() + (this.options.maxWaitMs ?? Infinity);
    const permit = this.lastRequests[priority].then(() => this.waitForPermit(wanted, priority, giveUpAt));
    this.lastRequests[priority] = permit.catch(() => undefined);
    return permit;
  }

  private async waitForPermit(wanted: number, priority: SendPriority, giveUpAt: number): Promise<CallPermit> {
    const { callsPerSecond, probeIntervalMs = PROBE_INTERVAL_MS, provider } = this.options;
    const limit = priority === 'urgent' ? callsPerSecond : Math.max(1, Math.floor(callsPerSecond * (1 - URGENT_SHARE)));
    for (;;) {
      const callerId = newId();
      const [calls, waitMs, reason] = await this.run<[number, number, string]>(enter, [
        limit,
        wanted,
        callerId,
        CALL_TIMEOUT_MS,
        probeIntervalMs,
      ]);
      if (calls > 0) return { calls, leave: (outcomes) => this.leave(callerId, calls, outcomes) };
      if (reason !== 'rate')
        throw new HeldBack('queue', waitMs, `${provider}: ${reason === 'open' ? 'is down' : 'asked for a pause'}`);
      if (Date.now() + waitMs > giveUpAt) throw new HeldBack('queue', retryDelayMs(), `${provider}: rate limit reached`);
      await pause(waitMs);
    }
  }

  private async leave(
    callerId: string,
    calls: number,
    { answered = 0, failed = 0, rateLimited }: CallOutcomes,
  ): Promise<boolean> {
    const { failuresToOpen = FAILURES_TO_OPEN, probeIntervalMs = PROBE_INTERVAL_MS, provider, onBreaker } = this.options;
    const unmade = calls - answered - failed - (rateLimited?.calls ?? 0);
    const numbers = [calls, answered, failed, rateLimited?.forMs ?? 0, failuresToOpen, probeIntervalMs, unmade];
    // An error of Redis must not fail the message, because the call to the provider was made. Without this report the call just
    // counts longer towards the limit.
    const verdict = await this.run<string>(leave, [callerId, ...numbers]).catch(() => '');
    if (verdict === 'opened' || verdict === 'closed') onBreaker(provider, verdict);
    return verdict === 'opened' || verdict === 'open';
  }

  private async run<T>(luaScript: RedisScript, args: readonly (string | number)[]): Promise<T> {
    return luaScript.run<T>(this.redis, this.keys, args).catch((error: unknown) => {
      throw new LimiterUnavailable('queue', NO_REDIS_PAUSE_MS, `Redis: ${error instanceof Error ? error.message : 'no answer'}`);
    });
  }
}

/** Random between 1 and 3 s, so that jobs that were held back at the same time do not all return at the same time. */
const retryDelayMs = (): number => Math.round(1000 * (1 + 2 * Math.random()));

/** A limiter that allows every call. For the mailbox, which calls no external provider, and for measurements without limits. */
export class UnlimitedProvider extends ProviderLimiter {
  enter(wanted: number): Promise<CallPermit> {
    return Promise.resolve({ calls: wanted, leave: () => Promise.resolve(false) });
  }
}
