import { HeldBack } from '../jobs/job-outcomes.ts';
import { newId } from '../ids.ts';
import { projectFile } from '../project-root.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import { RedisScript } from '../redis/script.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { CALL_TIMEOUT_MS } from './call-timeout.ts';

const script = (name: string): RedisScript =>
  RedisScript.fromFile(projectFile('libs', 'platform', 'src', 'sending', 'lua', `${name}.lua`));
const enter = script('enter');
const leave = script('leave');

/** CONTRACT §7. */
const FAILURES_THAT_OPEN = 20;
const TRY_EVERY_MS = 5000;
/** How long a queue rests when Redis, which keeps the count, does not answer. */
const NO_REDIS_REST_MS = 1000;
/** Of the calls a second this part is never used by bulk, so that a turn notice finds a free one. */
const RESERVED_FOR_URGENT = 0.1;

export type SendPriority = 'urgent' | 'bulk';

/** How the calls of one pass ended; what is in none of the three was never made. */
export interface CallsEnded {
  /** Any answer but 5xx and 429. */
  readonly answered?: number;
  /** 5xx or no answer. */
  readonly failed?: number;
  readonly tooFast?: { readonly calls: number; readonly forMs: number };
}

export interface Pass {
  readonly calls: number;
  /** True when the provider is now known to be down. */
  leave(ended: CallsEnded): Promise<boolean>;
}

/** Redis, which keeps the count, does not answer: nobody knows whether the call would be one too many. */
export class UncountedHere extends HeldBack {}

/** The door to a provider: how often it may be called, and whether there is any use in calling. */
export abstract class ProviderLimiter {
  /** Waits for its turn; between 1 and `wanted` calls. Throws HeldBack while the provider is down or wants to be left alone. */
  abstract enter(wanted: number, lane: SendPriority): Promise<Pass>;
}

export interface ProviderLimiterOptions {
  readonly provider: string;
  readonly callsPerSecond: number;
  readonly onBreaker: (provider: string, state: 'opened' | 'closed') => void;
  readonly failuresThatOpen?: number;
  readonly tryEveryMs?: number;
  /** The longest anybody waits at the door; then HeldBack. Without it as long as it takes. */
  readonly patienceMs?: number;
}

/** Shared by all workers: limit, breaker and the pause after a 429 are one pair of keys in Redis. */
export class SharedProviderLimiter extends ProviderLimiter {
  private readonly keys: readonly [string, string];
  private readonly lines: Record<SendPriority, Promise<unknown>> = { urgent: Promise.resolve(), bulk: Promise.resolve() };

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: ProviderLimiterOptions,
  ) {
    super();
    this.keys = [`{provider:${options.provider}}:calls`, `{provider:${options.provider}}:state`];
  }

  /** One of a process asks at a time, first come first served; a hundred waiting hands would be thousands of questions a second. */
  enter(wanted: number, lane: SendPriority): Promise<Pass> {
    const giveUpAt = Date.now() + (this.options.patienceMs ?? Infinity);
    const pass = this.lines[lane].then(() => this.ask(wanted, lane, giveUpAt));
    this.lines[lane] = pass.catch(() => undefined);
    return pass;
  }

  private async ask(wanted: number, lane: SendPriority, giveUpAt: number): Promise<Pass> {
    const { callsPerSecond, tryEveryMs = TRY_EVERY_MS, provider } = this.options;
    const limit = lane === 'urgent' ? callsPerSecond : Math.max(1, Math.floor(callsPerSecond * (1 - RESERVED_FOR_URGENT)));
    for (;;) {
      const name = newId();
      const [calls, waitMs, why] = await this.run<[number, number, string]>(enter, [
        limit,
        wanted,
        name,
        CALL_TIMEOUT_MS,
        tryEveryMs,
      ]);
      if (calls > 0) return { calls, leave: (ended) => this.leave(name, calls, ended) };
      if (why !== 'rate') throw new HeldBack('queue', waitMs, `${provider}: ${why === 'open' ? 'is down' : 'asked for a pause'}`);
      if (Date.now() + waitMs > giveUpAt) throw new HeldBack('queue', comeAgainMs(), `${provider}: its turn has not come`);
      await pause(waitMs);
    }
  }

  private async leave(name: string, calls: number, { answered = 0, failed = 0, tooFast }: CallsEnded): Promise<boolean> {
    const { failuresThatOpen = FAILURES_THAT_OPEN, tryEveryMs = TRY_EVERY_MS, provider, onBreaker } = this.options;
    const unmade = calls - answered - failed - (tooFast?.calls ?? 0);
    const numbers = [calls, answered, failed, tooFast?.forMs ?? 0, failuresThatOpen, tryEveryMs, unmade];
    // The calls are made: a Redis that is away now costs a little of the limit (they count to the end), not the message.
    const verdict = await this.run<string>(leave, [name, ...numbers]).catch(() => '');
    if (verdict === 'opened' || verdict === 'closed') onBreaker(provider, verdict);
    return verdict === 'opened' || verdict === 'open';
  }

  private async run<T>(what: RedisScript, args: readonly (string | number)[]): Promise<T> {
    return what.run<T>(this.redis, this.keys, args).catch((error: unknown) => {
      throw new UncountedHere('queue', NO_REDIS_REST_MS, `Redis: ${error instanceof Error ? error.message : 'no answer'}`);
    });
  }
}

/** Not all of those who were held back at the same moment at the same moment again. */
const comeAgainMs = (): number => Math.round(1000 * (1 + 2 * Math.random()));

/** For what needs no provider outside: the mailbox, and measurements without limits. */
export class UnlimitedProvider extends ProviderLimiter {
  enter(wanted: number): Promise<Pass> {
    return Promise.resolve({ calls: wanted, leave: () => Promise.resolve(false) });
  }
}
