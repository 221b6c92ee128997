import type { RedisConnection } from '#platform/redis/redis-connection';
import type { RedisScript } from '#platform/redis/script';
import { StateNeeded } from '../application/ports.ts';
import { loadLineScripts, type LineScripts } from './line-scripts.ts';
import { matchKeys } from './match-keys.ts';
import type { ReplicaConfirmation } from './replica-confirmation.ts';

interface Settings {
  readonly purchaseWindowMs: number;
  readonly persistenceSeconds: number;
  readonly presenceMs: number;
}

/** A fan who asks about any id makes us ask the monolith: so many ids at a time, each for a minute. */
const MOST_WITHOUT_STATE = 1000;
const ASK_FOR_MS = 60_000;

/** Calls of the scripts (lua/), each atomic over the keys of one match. Throws StateNeeded for a match that Redis does not know. */
export class LineCalls {
  protected readonly scripts: LineScripts = loadLineScripts();
  /** Until when the monolith is asked for their state, on the monotonic clock. */
  private readonly withoutState = new Map<string, number>();

  constructor(
    protected readonly redis: RedisConnection,
    protected readonly settings: Settings,
    /** Absent where there are no replicas to wait for. */
    private readonly confirmation?: ReplicaConfirmation,
  ) {}

  matchesWithoutState(): readonly string[] {
    const now = performance.now();
    for (const [matchId, untilMs] of this.withoutState) if (untilMs <= now) this.withoutState.delete(matchId);
    return [...this.withoutState.keys()];
  }

  protected stateIsKnown(matchId: string): void {
    this.withoutState.delete(matchId);
  }

  protected callOf(matchId: string, args: readonly (string | number)[]) {
    const { persistenceSeconds, presenceMs } = this.settings;
    return { keys: matchKeys(matchId), args: [matchId, persistenceSeconds, presenceMs, ...args] };
  }

  protected async run<T>(script: RedisScript, matchId: string, ...args: (string | number)[]): Promise<T> {
    const call = this.callOf(matchId, args);
    return this.known(matchId, await script.run<T>(this.redis, call.keys, call.args));
  }

  private known<T>(matchId: string, reply: T): T {
    if ((Array.isArray(reply) ? reply[0] : reply) === 'state_needed') {
      const isNew = !this.withoutState.has(matchId);
      if (isNew && this.withoutState.size < MOST_WITHOUT_STATE) this.withoutState.set(matchId, performance.now() + ASK_FOR_MS);
      throw new StateNeeded(matchId);
    }
    return reply;
  }

  /** What fans are promised: with replicas, only what at least one of them has. */
  protected async runConfirmed<T>(script: RedisScript, matchId: string, call: ReturnType<typeof this.callOf>): Promise<T> {
    const reply = this.confirmation
      ? await this.confirmation.run<T>(this.redis, script, { ...call, matchId })
      : await script.run<T>(this.redis, call.keys, call.args);
    return this.known(matchId, reply);
  }
}
