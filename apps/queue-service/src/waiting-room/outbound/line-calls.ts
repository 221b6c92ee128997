import type { RedisConnection } from '#platform/redis/redis-connection';
import { StateNeeded } from '../application/ports.ts';
import { loadLineScripts } from './line-scripts.ts';
import { matchKeys } from './match-keys.ts';
import { QueueTokens } from './queue-token.ts';
import type { ReplicaConfirmation } from './replica-confirmation.ts';

interface Settings {
  readonly purchaseWindowMs: number;
  readonly persistenceSeconds: number;
  readonly presenceMs: number;
  /** The secrets of queue tokens, the same for all pods. The first encrypts new tokens. */
  readonly tokenSecrets: readonly [string, ...string[]];
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
  protected readonly tokens: QueueTokens;
  private readonly scripts = loadLineScripts();
  /** By match id: until when this pod asks the monolith for the state of the match (monotonic milliseconds). */
  private readonly withoutState = new Map<string, number>();

  constructor(
    protected readonly redis: RedisConnection,
    protected readonly settings: Settings,
    /** Waits until replicas have confirmed a join or grant. Undefined when no replicas are configured. */
    private readonly confirmation?: ReplicaConfirmation,
  ) {
    this.tokens = new QueueTokens(settings.tokenSecrets);
  }

  matchesWithoutState(): readonly string[] {
    const now = performance.now();
    for (const [matchId, untilMs] of this.withoutState) if (untilMs <= now) this.withoutState.delete(matchId);
    return [...this.withoutState.keys()];
  }

  protected noteKnownState(matchId: string): void {
    this.withoutState.delete(matchId);
  }

  /** Runs the script lua/<name>.lua for a match. */
  protected async run<T>(name: string, matchId: string, ...args: (string | number)[]): Promise<T> {
    const call = this.callOf(matchId, args);
    return this.checkReply(matchId, await this.scripts.get(name)!.run<T>(this.redis, call.keys, call.args));
  }

  /** Runs the script of a join or grant. With replicas configured, the call succeeds only after they have confirmed it. */
  protected async runConfirmed<T>(name: string, matchId: string, ...args: (string | number)[]): Promise<T> {
    if (!this.confirmation) return this.run<T>(name, matchId, ...args);
    const reply = await this.confirmation.run<T>(this.redis, this.scripts.get(name)!, this.callOf(matchId, args));
    return this.checkReply(matchId, reply);
  }

  private callOf(matchId: string, args: readonly (string | number)[]) {
    const { persistenceSeconds, presenceMs } = this.settings;
    return { keys: matchKeys(matchId), args: [matchId, persistenceSeconds, presenceMs, ...args] };
  }

  private checkReply<T>(matchId: string, reply: T): T {
    if ((Array.isArray(reply) ? reply[0] : reply) !== 'state_needed') return reply;
    const isNew = !this.withoutState.has(matchId);
    if (isNew && this.withoutState.size < MAX_MATCHES_WITHOUT_STATE)
      this.withoutState.set(matchId, performance.now() + ASK_DURATION_MS);
    throw new StateNeeded(matchId);
  }
}
