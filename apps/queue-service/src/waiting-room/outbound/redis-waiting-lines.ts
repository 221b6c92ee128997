import { queueKeys } from '#contracts/queue-keys';
import type { QueueState, RemainingSector } from '#domain/waiting-room/fan-state';
import type { RedisConnection } from '#platform/redis/redis-connection';
import type { RedisScript } from '#platform/redis/script';
import type {
  Admitted,
  ChangeOutcome,
  ConnectedPlaces,
  JoinOutcome,
  LineMovement,
  Place,
  QueueChange,
  WaitingLines,
} from '../application/ports.ts';
import { loadLineScripts, type LineScripts } from './line-scripts.ts';
import { matchKeys } from './match-keys.ts';
import { matchOfToken, newQueueToken, newSessionToken } from './queue-token.ts';
import { instant, toPlace, toQueue, type PlaceReply } from './redis-replies.ts';

interface Settings {
  readonly purchaseWindowMs: number;
  readonly persistenceSeconds: number;
}

type QueueReply = Parameters<typeof toQueue>[0];
type JoinReply =
  | ['created' | 'kept', PlaceReply]
  | ['unknown']
  | ['scheduled' | 'closed', [opensAt: string | null, closedReason: string | null]];

/** All lines in Redis, and nowhere else: each method is one script (lua/), so any number of pods may share them. */
export class RedisWaitingLines implements WaitingLines, LineMovement, ConnectedPlaces {
  private readonly scripts: LineScripts = loadLineScripts();

  constructor(
    private readonly redis: RedisConnection,
    private readonly settings: Settings,
  ) {}

  async join(matchId: string, userId: string): Promise<JoinOutcome> {
    const reply = await this.run<JoinReply>(this.scripts.joinLine, matchId, userId, newQueueToken(matchId));
    switch (reply[0]) {
      case 'created':
      case 'kept':
        return { kind: reply[0], place: toPlace(reply[1]) };
      case 'unknown':
        return { kind: 'unknown' };
      case 'scheduled':
        return { kind: 'scheduled', opensAt: reply[1][0] === null ? null : instant(reply[1][0]) };
      case 'closed':
        return { kind: 'closed', reason: reply[1][1] === 'sold_out' ? 'sold_out' : 'closed' };
    }
  }

  async visit(matchId: string, userId: string): Promise<Place | undefined> {
    const [outcome, place] = await this.run<['unknown'] | ['found', PlaceReply]>(
      this.scripts.visitLine,
      matchId,
      userId,
      newQueueToken(matchId),
    );
    return outcome === 'found' ? toPlace(place) : undefined;
  }

  async leave(matchId: string, userId: string): Promise<void> {
    await this.run(this.scripts.leaveLine, matchId, userId);
  }

  async completeWindow(matchId: string, userId: string, sessionToken = ''): Promise<void> {
    await this.run(this.scripts.completeWindow, matchId, userId, sessionToken);
  }

  async change(matchId: string, change: QueueChange): Promise<ChangeOutcome> {
    // Before the script and in another slot: a listed match without a queue costs a look, an unlisted queue would stand still.
    await this.redis.sadd(queueKeys.matches, matchId);
    return this.run<ChangeOutcome>(this.scripts.controlQueue, matchId, changeText(change));
  }

  async reportRemaining(matchId: string, sectors: readonly RemainingSector[]): Promise<ChangeOutcome> {
    const told = sectors.map(({ sectorId, name, available }) => ({ sector_id: sectorId, name, available }));
    return this.run<ChangeOutcome>(this.scripts.reportSoldOut, matchId, told.length === 0 ? '' : JSON.stringify(told));
  }

  async readQueue(matchId: string): Promise<QueueState | undefined> {
    const [outcome, queue] = await this.run<['unknown'] | ['found', QueueReply]>(this.scripts.readQueue, matchId);
    return outcome === 'found' ? toQueue(queue) : undefined;
  }

  async matches(): Promise<string[]> {
    return this.redis.smembers(queueKeys.matches);
  }

  async drainClosed(matchId: string, limit: number): Promise<number> {
    return this.run<number>(this.scripts.drainClosed, matchId, limit);
  }

  async endWindows(matchId: string, limit: number): Promise<number> {
    return this.run<number>(this.scripts.endWindows, matchId, limit);
  }

  async admit(matchId: string, limit: number): Promise<Admitted> {
    const tokens = Array.from({ length: limit }, newSessionToken);
    const [granted, more, quiet] = await this.run<[string[], number, number]>(
      this.scripts.admitFront,
      matchId,
      this.settings.purchaseWindowMs,
      ...tokens,
    );
    return { granted: granted.length, more: more === 1, quiet: quiet === 1 };
  }

  async readToken(token: string): Promise<{ matchId: string; userId: string; place: Place } | undefined> {
    const matchId = matchOfToken(token);
    if (!matchId) return undefined;
    const reply = await this.run<['unknown'] | ['found', string, PlaceReply]>(this.scripts.readPlace, matchId, token);
    return reply[0] === 'found' ? { matchId, userId: reply[1], place: toPlace(reply[2]) } : undefined;
  }

  async readPositions(matchId: string, userIds: readonly string[]): Promise<{ positions: number[]; queue?: QueueState }> {
    const [positions, queue] = await this.run<[number[], QueueReply | null]>(this.scripts.readPositions, matchId, ...userIds);
    return queue === null ? { positions } : { positions, queue: toQueue(queue) };
  }

  async keep(fan: { matchId: string; userId: string; token: string }, websocketId = ''): Promise<boolean> {
    return (await this.run<number>(this.scripts.keepPlace, fan.matchId, fan.userId, fan.token, websocketId)) === 1;
  }

  private run<T>(script: RedisScript, matchId: string, ...args: (string | number)[]): Promise<T> {
    return script.run<T>(this.redis, matchKeys(matchId), [matchId, this.settings.persistenceSeconds, ...args]);
  }
}

function changeText(change: QueueChange): string {
  return JSON.stringify({
    status: change.status,
    opens_at_ms: change.opensAt ? Date.parse(change.opensAt) : change.opensAt,
    processing_rate: change.processingRate,
    max_open_windows: change.maxOpenWindows,
    useful_windows: change.usefulWindows,
    reason: change.reason,
  });
}
