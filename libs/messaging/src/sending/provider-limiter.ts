import { HeldBack } from '../jobs/job-outcomes.ts';
import { Batcher } from '#platform/batching/batcher';
import { outsideRequests } from '#platform/batching/outside-requests';
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
  /** True: calls are made in ten groups a second. Without this option all calls that the limit allows are made at once. */
  readonly isEven?: boolean;
}

/** A caller of `enter` who has no permit yet. */
interface Waiting {
  readonly wanted: number;
  readonly giveUpAt: number;
  readonly resolve: (permit: CallPermit) => void;
  readonly reject: (error: unknown) => void;
}

/** The calls of a permit: some of the calls that one run of enter.lua has allowed. */
interface PermittedCalls {
  readonly groupId: string;
  readonly first: number;
  readonly count: number;
}

const countOf = (permits: readonly PermittedCalls[]): number => permits.reduce((sum, { count }) => sum + count, 0);

const GROUPS_PER_SECOND = 10;
/** A little less than 1: so the limit decides how many calls are made in a second, and not the pauses between groups. */
const PAUSE_SHARE = 0.9;

/**
 * A limiter that all workers share: the rate, the state of the breaker and the pause after a 429 are stored in two keys in Redis.
 *
 * In one process, callers of the same priority are served in their order, and those who wait at the same time ask Redis together.
 * A hundred callers that poll in parallel would be thousands of commands a second. Callers whose calls are allowed together also
 * share what they do next, such as the claims of their messages.
 */
export class SharedProviderLimiter extends ProviderLimiter {
  private readonly keys: readonly [string, string];
  private readonly waiting: Record<SendPriority, Waiting[]> = { urgent: [], bulk: [] };
  private readonly isServing: Record<SendPriority, boolean> = { urgent: false, bulk: false };
  /** Permits whose calls were all answered, which is the usual outcome. They share a report. */
  private readonly answered = new Batcher<PermittedCalls, boolean>(
    async (permits) => {
      const isDown = await this.report(permits, { answered: countOf(permits) });
      return permits.map(() => isDown);
    },
    { startWith: queueMicrotask },
  );

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: ProviderLimiterOptions,
  ) {
    super();
    this.keys = [`{provider:${options.provider}}:calls`, `{provider:${options.provider}}:state`];
  }

  enter(wanted: number, priority: SendPriority): Promise<CallPermit> {
    const giveUpAt = Date.now() + (this.options.maxWaitMs ?? Infinity);
    return new Promise((resolve, reject) => {
      this.waiting[priority].push({ wanted, giveUpAt, resolve, reject });
      if (this.isServing[priority]) return;
      this.isServing[priority] = true;
      outsideRequests(() => queueMicrotask(() => void this.serve(priority)));
    });
  }

  /** Asks Redis until nobody waits. */
  private async serve(priority: SendPriority): Promise<void> {
    const waiting = this.waiting[priority];
    while (waiting.length > 0) {
      const pauseMs = await this.serveGroup(waiting, priority).catch((error: unknown) => {
        for (const { reject } of waiting.splice(0)) reject(error);
        return 0;
      });
      if (pauseMs > 0) await pause(pauseMs);
    }
    this.isServing[priority] = false;
  }

  /** Asks Redis once for the calls that the waiting callers want. Resolves to the milliseconds until the next question. */
  private async serveGroup(waiting: Waiting[], priority: SendPriority): Promise<number> {
    const { callsPerSecond, probeIntervalMs = PROBE_INTERVAL_MS, provider, isEven = false } = this.options;
    const limit = priority === 'urgent' ? callsPerSecond : Math.max(1, Math.floor(callsPerSecond * (1 - URGENT_SHARE)));
    const wanted = waiting.reduce((sum, caller) => sum + caller.wanted, 0);
    const groupId = newId();
    const [allowed, waitMs, reason] = await this.run<[number, number, string]>(enter, [
      limit,
      isEven ? Math.min(wanted, Math.ceil(limit / GROUPS_PER_SECOND)) : wanted,
      groupId,
      CALL_TIMEOUT_MS,
      probeIntervalMs,
    ]);
    if (allowed > 0) {
      this.grant(waiting, groupId, allowed);
      return isEven ? (PAUSE_SHARE * 1000 * allowed) / limit : 0;
    }
    if (reason !== 'rate')
      throw new HeldBack('queue', waitMs, `${provider}: ${reason === 'open' ? 'is down' : 'asked for a pause'}`);
    const isTooLate = ({ giveUpAt }: Waiting): boolean => Date.now() + waitMs > giveUpAt;
    while (waiting[0] && isTooLate(waiting[0]))
      waiting.shift()?.reject(new HeldBack('queue', retryDelayMs(), `${provider}: rate limit reached`));
    return waitMs;
  }

  /** Gives the allowed calls to the callers who wait longest. They want at least as many. */
  private grant(waiting: Waiting[], groupId: string, allowed: number): void {
    for (let granted = 0; granted < allowed;) {
      const { wanted, resolve } = waiting.shift()!;
      const calls = { groupId, first: granted + 1, count: Math.min(wanted, allowed - granted) };
      resolve({ calls: calls.count, leave: (outcomes) => this.leave(calls, outcomes) });
      granted += calls.count;
    }
  }

  private leave(calls: PermittedCalls, outcomes: CallOutcomes): Promise<boolean> {
    return outcomes.answered === calls.count ? this.answered.add(calls) : this.report([calls], outcomes);
  }

  /** Reports the outcomes of permitted calls. If some calls were not made, it must be a report about one permit. */
  private async report(permits: readonly PermittedCalls[], outcomes: CallOutcomes): Promise<boolean> {
    const { answered = 0, failed = 0, rateLimited } = outcomes;
    const { failuresToOpen = FAILURES_TO_OPEN, probeIntervalMs = PROBE_INTERVAL_MS, provider, onBreaker } = this.options;
    const unmade = countOf(permits) - answered - failed - (rateLimited?.calls ?? 0);
    const numbers = [answered, failed, rateLimited?.forMs ?? 0, failuresToOpen, probeIntervalMs, unmade];
    const calls = permits.flatMap(({ groupId, first, count }) => [groupId, first, count]);
    // An error of Redis must not fail the message, because the call to the provider was made. Without this report the call just
    // counts longer towards the limit.
    const verdict = await this.run<string>(leave, [...numbers, ...calls]).catch(() => '');
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
