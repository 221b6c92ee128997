import type { QueueState } from '../domain/fan-state.ts';
import type { LineMove } from '../domain/line-view.ts';
import { Together } from '#platform/together';
import type { ConnectedFans, FanDevice, QueueEntry, PositionsRead, TokenRead } from '../application/ports.ts';
import { LineCalls } from './line-calls.ts';
import { ownerOfToken } from './queue-token.ts';
import { toMove, toQueueEntry, toQueue, type MoveReply, type QueueEntryReply, type QueueReply } from './redis-replies.ts';

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

type Unknown = ['unknown'];

const MOVES_AT_ONCE = 1000;
/** A phone that changes from one network to the other is back within this. */
const PART_GRACE_MS = 5000;

/** What a pod reads and says for the fans connected to it. */
export class RedisConnectedFans extends LineCalls implements ConnectedFans {
  private readonly tokenReads = new Map<string, Together<TokenToRead, QueueEntry | 'full' | undefined>>();

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
    return (await this.run<number>(this.scripts.keepEntry, fan.matchId, fan.userId, fan.token, ...websocketIds)) === 1;
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
      const entry = await reads.add({ userId, token, ...connection });
      return typeof entry === 'object' ? { ...owner, entry } : entry;
    } finally {
      if (reads.isIdle) this.tokenReads.delete(matchId);
    }
  }

  private async readTogether(matchId: string, tokens: readonly TokenToRead[]): Promise<(QueueEntry | 'full' | undefined)[]> {
    const args = tokens.flatMap(({ userId, token, websocketId, isStream }) => [
      userId,
      token,
      websocketId,
      isStream ? 'stream' : '',
    ]);
    const reply = await this.run<Unknown | ['found', QueueReply, (QueueEntryReply | 'full' | null)[]]>(
      this.scripts.readEntries,
      matchId,
      ...args,
    );
    if (reply[0] === 'unknown') return tokens.map(() => undefined);
    const queue = toQueue(reply[1]);
    return reply[2].map((entry, at) =>
      Array.isArray(entry) ? toQueueEntry(entry, queue, tokens[at]!.token) : (entry ?? undefined),
    );
  }
}
