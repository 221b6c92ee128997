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

/**
 * A request with an unknown match id makes this pod ask the monolith for the state of that match: for at most 1,000 ids, each for
 * a minute.
 */
const MAX_MATCHES_WITHOUT_STATE = 1000;
const ASK_DURATION_MS = 60_000;

/**
 * Base class that calls the scripts in lua/. A script is atomic over the keys of one match. A call throws StateNeeded when Redis
 * does not know the match.
 */
export class LineCalls {
  protected readonly scripts: LineScripts = loadLineScripts();
  /** By match id: until when this pod asks the monolith for the state of the match (monotonic milliseconds). */
  private readonly withoutState = new Map<string, number>();

  constructor(
    protected readonly redis: RedisConnection,
    protected readonly settings: Settings,
    /** Waits until replicas have confirmed a join or grant. Undefined when no replicas are configured. */
    private readonly confirmation?: ReplicaConfirmation,
  ) {}

  matchesWithoutState(): readonly string[] {
    const now = performance.now();
    for (const [matchId, untilMs] of this.withoutState) if (untilMs <= now) this.withoutState.delete(matchId);
    return [...this.withoutState.keys()];
  }

  protected noteKnownState(matchId: string): void {
    this.withoutState.delete(matchId);
  }

  protected callOf(matchId: string, args: readonly (string | number)[]) {
    const { persistenceSeconds, presenceMs } = this.settings;
    return { keys: matchKeys(matchId), args: [matchId, persistenceSeconds, presenceMs, ...args] };
  }

  protected async run<T>(script: RedisScript, matchId: string, ...args: (string | number)[]): Promise<T> {
    const call = this.callOf(matchId, args);
    return this.checkReply(matchId, await script.run<T>(this.redis, call.keys, call.args));
  }

  private checkReply<T>(matchId: string, reply: T): T {
    if ((Array.isArray(reply) ? reply[0] : reply) === 'state_needed') {
      const isNew = !this.withoutState.has(matchId);
      if (isNew && this.withoutState.size < MAX_MATCHES_WITHOUT_STATE)
        this.withoutState.set(matchId, performance.now() + ASK_DURATION_MS);
      throw new StateNeeded(matchId);
    }
    return reply;
  }

  /** Runs the script of a join or grant. With replicas configured, the call succeeds only after they have confirmed it. */
  protected async runConfirmed<T>(script: RedisScript, matchId: string, call: ReturnType<typeof this.callOf>): Promise<T> {
    const reply = this.confirmation
      ? await this.confirmation.run<T>(this.redis, script, { ...call, matchId })
      : await script.run<T>(this.redis, call.keys, call.args);
    return this.checkReply(matchId, reply);
  }
}
