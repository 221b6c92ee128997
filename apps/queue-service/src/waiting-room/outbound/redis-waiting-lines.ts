import { queueKeys } from '#contracts/queue-keys';
import type { QueueState, RemainingSector } from '#domain/waiting-room/fan-state';
import type { LineMove } from '#domain/waiting-room/line-view';
import type { LinePace } from '#domain/waiting-room/wait-estimate';
import type { RedisConnection } from '#platform/redis/redis-connection';
import { Together } from '#platform/together';
import type { RedisScript } from '#platform/redis/script';
import type {
  Admitted,
  ChangeOutcome,
  ConnectedPlaces,
  FanDevice,
  JoinOutcome,
  LineMovement,
  Place,
  PositionsRead,
  QueueChange,
  TokenRead,
  WaitingLines,
} from '../application/ports.ts';
import { JoinBatches, type WaitingJoin } from './join-batches.ts';
import { loadLineScripts, type LineScripts } from './line-scripts.ts';
import { matchKeys } from './match-keys.ts';
import { newQueueToken, newSessionToken, ownerOfToken } from './queue-token.ts';
import { toMove, toPlace, toQueue, type MoveReply, type PlaceReply, type QueueReply } from './redis-replies.ts';
import type { ReplicaConfirmation } from './replica-confirmation.ts';

/** Redis works on a hundred for a millisecond or two. */
const MOST_READS = 100;

interface TokenToRead {
  readonly userId: string;
  readonly token: string;
  /** Of the connection that has just come, or ''. */
  readonly websocketId: string;
  readonly isStream: boolean;
}

const keyOf = ({ token, websocketId }: TokenToRead): string => `${token} ${websocketId}`;

interface Settings {
  readonly purchaseWindowMs: number;
  readonly persistenceSeconds: number;
  readonly presenceMs: number;
}

type Unknown = ['unknown'];
/** A text is the score of a new place. */
type JoinedReply = string | [outcome: 'restored' | 'kept', PlaceReply] | ['refused'];
type JoinReply = Unknown | ['found', QueueReply, firstPosition: number, string | JoinedReply[]];
type FoundPlace = Unknown | ['found', QueueReply, PlaceReply];

/** At most one event about positions a minute and match. */
const POSITIONS_EVERY_MS = 60_000;
const MOVES_AT_ONCE = 1000;
/** A phone that changes from one network to the other is back within this. */
const PART_GRACE_MS = 5000;

/** All lines in Redis, and nowhere else: each method is one script (lua/), so any number of pods may share them. */
export class RedisWaitingLines implements WaitingLines, LineMovement, ConnectedPlaces {
  private readonly scripts: LineScripts = loadLineScripts();
  private readonly joins = new Map<string, JoinBatches<JoinOutcome>>();
  private readonly tokenReads = new Map<string, Together<TokenToRead, Place | 'full' | undefined>>();

  constructor(
    private readonly redis: RedisConnection,
    private readonly settings: Settings,
    /** Absent where there are no replicas to wait for. */
    private readonly confirmation?: ReplicaConfirmation,
  ) {}

  async join(matchId: string, userId: string, receiptScore = ''): Promise<JoinOutcome> {
    let batches = this.joins.get(matchId);
    if (!batches) {
      batches = new JoinBatches((joins) => this.joinTogether(matchId, joins));
      this.joins.set(matchId, batches);
    }
    try {
      return await batches.add(userId, receiptScore);
    } finally {
      if (batches.isIdle) this.joins.delete(matchId);
    }
  }

  async visit(matchId: string, userId: string): Promise<Place | undefined> {
    const reply = await this.run<FoundPlace>(this.scripts.visitLine, matchId, userId, newQueueToken(matchId, userId));
    return reply[0] === 'found' ? toPlace(reply[2], toQueue(reply[1])) : undefined;
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
    const reply = await this.run<Unknown | ['found', QueueReply]>(this.scripts.readQueue, matchId);
    return reply[0] === 'found' ? toQueue(reply[1]) : undefined;
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

  async dropAbsent(matchId: string, limit: number): Promise<number> {
    return this.run<number>(this.scripts.dropAbsent, matchId, limit);
  }

  async admit(matchId: string, limit: number): Promise<Admitted> {
    const tokens = Array.from({ length: limit }, newSessionToken);
    const call = this.callOf(matchId, [this.settings.purchaseWindowMs, ...tokens]);
    const [granted, more, quiet] = await this.runConfirmed<[number, number, number]>(this.scripts.admitFront, matchId, call);
    return { granted, more: more === 1, quiet: quiet === 1 };
  }

  async announcePositions(matchId: string, pace: LinePace | undefined): Promise<number> {
    const { fansPerMinute, freeWindows, minutesPerCompletion } = pace ?? {
      fansPerMinute: 0,
      freeWindows: 0,
      minutesPerCompletion: 0,
    };
    const args = [POSITIONS_EVERY_MS, fansPerMinute, freeWindows, minutesPerCompletion];
    return this.run<number>(this.scripts.announcePositions, matchId, ...args);
  }

  async readToken(token: string, websocketId = ''): Promise<TokenRead | undefined> {
    const read = await this.lookUp(token, { websocketId, isStream: false });
    return read === 'full' ? undefined : read;
  }

  readTokenOfStream(token: string, websocketId: string): Promise<TokenRead | 'full' | undefined> {
    return this.lookUp(token, { websocketId, isStream: true });
  }

  async readPositions(matchId: string, userIds: readonly string[]): Promise<PositionsRead> {
    if (userIds.length === 0) return { positions: [], scores: [] };
    type Reply = [positions: number[], scores: (string | null)[], QueueReply | null];
    const [positions, scores, queue] = await this.run<Reply>(this.scripts.readPositions, matchId, ...userIds);
    const read = { positions, scores: scores.map((score) => (score === null ? null : Number(score))) };
    return queue === null ? read : { ...read, queue: toQueue(queue) };
  }

  async readMoves(matchId: string, after: number): Promise<{ queue: QueueState; moves: LineMove[] } | undefined> {
    const reply = await this.run<Unknown | ['found', QueueReply, MoveReply[]]>(
      this.scripts.readMoves,
      matchId,
      after,
      MOVES_AT_ONCE,
    );
    return reply[0] === 'found' ? { queue: toQueue(reply[1]), moves: reply[2].map(toMove) } : undefined;
  }

  async keep(fan: { matchId: string; userId: string; token: string }, websocketIds: readonly string[]): Promise<boolean> {
    return (await this.run<number>(this.scripts.keepPlace, fan.matchId, fan.userId, fan.token, ...websocketIds)) === 1;
  }

  async touch(matchId: string, userIds: readonly string[]): Promise<void> {
    if (userIds.length > 0) await this.run(this.scripts.touchFans, matchId, ...userIds);
  }

  async part(matchId: string, devices: readonly FanDevice[]): Promise<void> {
    const args = devices.flatMap(({ userId, websocketId }) => [userId, websocketId]);
    if (devices.length > 0) await this.run(this.scripts.partFans, matchId, PART_GRACE_MS, ...args);
  }

  async beat(matchId: string, pod: string, closed: readonly FanDevice[]): Promise<FanDevice[]> {
    const entries = closed.map(({ userId, websocketId }) => `${userId} ${websocketId}`);
    const replaced = await this.run<string[]>(this.scripts.beatPod, matchId, pod, '1', ...entries);
    return replaced.map((entry) => {
      const [userId = '', websocketId = ''] = entry.split(' ');
      return { userId, websocketId };
    });
  }

  async sayGoodbye(matchId: string, pod: string): Promise<void> {
    await this.run(this.scripts.beatPod, matchId, pod, '');
  }

  /**
   * When a pod dies, thousands come to the others within seconds: alone each costs two calls, 130 µs of Redis and as much of
   * the pod. One batch at a time keeps the pod's commands short of their time-out, whatever comes.
   */
  private async lookUp(
    token: string,
    connection: Pick<TokenToRead, 'websocketId' | 'isStream'>,
  ): Promise<TokenRead | 'full' | undefined> {
    const owner = ownerOfToken(token);
    if (!owner) return undefined;
    const { matchId, userId } = owner;
    let reads = this.tokenReads.get(matchId);
    if (!reads) {
      reads = new Together(keyOf, (tokens) => this.readTogether(matchId, tokens), { most: MOST_READS });
      this.tokenReads.set(matchId, reads);
    }
    try {
      const place = await reads.add({ userId, token, ...connection });
      return typeof place === 'object' ? { ...owner, place } : place;
    } finally {
      if (reads.isIdle) this.tokenReads.delete(matchId);
    }
  }

  private async readTogether(matchId: string, tokens: readonly TokenToRead[]): Promise<(Place | 'full' | undefined)[]> {
    const args = tokens.flatMap(({ userId, token, websocketId, isStream }) => [
      userId,
      token,
      websocketId,
      isStream ? 'stream' : '',
    ]);
    const reply = await this.run<Unknown | ['found', QueueReply, (PlaceReply | 'full' | null)[]]>(
      this.scripts.readPlaces,
      matchId,
      ...args,
    );
    if (reply[0] === 'unknown') return tokens.map(() => undefined);
    const queue = toQueue(reply[1]);
    return reply[2].map((place, at) => (Array.isArray(place) ? toPlace(place, queue, tokens[at]!.token) : (place ?? undefined)));
  }

  private async joinTogether(matchId: string, joins: readonly WaitingJoin<JoinOutcome>[]): Promise<JoinOutcome[]> {
    const tokens = joins.map(({ userId }) => newQueueToken(matchId, userId));
    const args: (string | number)[] = [joins.length, inOneText(joins.map(({ userId }) => userId)), inOneText(tokens)];
    for (const [at, { receiptScore }] of joins.entries()) if (receiptScore !== '') args.push(at + 1, receiptScore);
    const reply = await this.runConfirmed<JoinReply>(this.scripts.joinLine, matchId, this.callOf(matchId, args));
    if (reply[0] === 'unknown') return joins.map(() => ({ kind: 'unknown' }));
    const queue = toQueue(reply[1]);
    const [, , firstPosition, outcomes] = reply;
    const created = (position: number, at: number, score: string): JoinOutcome => {
      const state = { kind: 'waiting', position } as const;
      return { kind: 'created', place: { state, queue, queueToken: tokens[at]!, score } };
    };
    if (typeof outcomes === 'string') return joins.map((_, at) => created(firstPosition + at, at, String(Number(outcomes) + at)));
    let position = firstPosition - 1;
    return outcomes.map((joined, at): JoinOutcome => {
      if (typeof joined === 'string') return created((position += 1), at, joined);
      return joined[0] === 'refused' ? refusalOf(queue) : { kind: joined[0], place: toPlace(joined[1], queue) };
    });
  }

  private callOf(matchId: string, args: readonly (string | number)[]) {
    const { persistenceSeconds, presenceMs } = this.settings;
    return { keys: matchKeys(matchId), args: [matchId, persistenceSeconds, presenceMs, ...args] };
  }

  private run<T>(script: RedisScript, matchId: string, ...args: (string | number)[]): Promise<T> {
    const call = this.callOf(matchId, args);
    return script.run<T>(this.redis, call.keys, call.args);
  }

  /** What fans are promised: with replicas, only what at least one of them has. */
  private runConfirmed<T>(script: RedisScript, matchId: string, call: ReturnType<typeof this.callOf>): Promise<T> {
    return this.confirmation
      ? this.confirmation.run<T>(this.redis, script, { ...call, matchId })
      : script.run<T>(this.redis, call.keys, call.args);
  }
}

/** As a script takes it apart again. */
function inOneText(texts: readonly string[]): string {
  return `${texts.join('\0')}\0`;
}

function refusalOf({ status, closedReason, opensAt }: QueueState): JoinOutcome {
  return status === 'closed' ? { kind: 'closed', reason: closedReason ?? 'closed' } : { kind: 'scheduled', opensAt };
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
