import type { QueueState } from '../domain/fan-state.ts';
import type { LineMove } from '../domain/line-view.ts';
import { Batcher } from '#platform/batching/batcher';
import type { ConnectedFans, FanDevice, QueueEntry, PositionsSnapshot, TokenLookup } from '../application/ports.ts';
import { LineCalls } from './line-calls.ts';
import { toMove, toQueueEntry, toQueue, type MoveReply, type QueueEntryReply, type QueueReply } from './redis-replies.ts';

/** How many tokens one script call reads. A hundred take Redis one to two milliseconds. */
const MAX_TOKENS_PER_READ = 100;

interface TokenToRead {
  readonly userId: string;
  readonly token: string;
  /** The new connection that uses this token, or '' when the read is not for a new connection. */
  readonly websocketId: string;
  readonly kind: 'stream' | '';
}

type Unknown = ['unknown'];

const MAX_MOVES_PER_READ = 1000;
/** How long after the last connection closed a fan still counts as present: a phone that changes networks reconnects in this time. */
const AWAY_GRACE_MS = 5000;

/** Implements the port ConnectedFans with the scripts in lua/. */
export class RedisConnectedFans extends LineCalls implements ConnectedFans {
  private readonly tokenReads = new Map<string, Batcher<TokenToRead, QueueEntry | 'full' | undefined>>();

  async readToken(token: string, websocketId = ''): Promise<TokenLookup | undefined> {
    const read = await this.readInBatch(token, websocketId, '');
    return read === 'full' ? undefined : read;
  }

  readTokenForStream(token: string, websocketId: string): Promise<TokenLookup | 'full' | undefined> {
    return this.readInBatch(token, websocketId, 'stream');
  }

  async readPositions(matchId: string, userIds: readonly string[]): Promise<PositionsSnapshot> {
    if (userIds.length === 0) return { positions: [], scores: [] };
    type Reply = [positions: number[], scores: (string | null)[], QueueReply | null];
    const [positions, scores, queue] = await this.run<Reply>('read-positions', matchId, ...userIds);
    const read = { positions, scores: scores.map((score) => (score === null ? null : Number(score))) };
    return queue === null ? read : { ...read, queue: toQueue(queue) };
  }

  async readMoves(matchId: string, after: number): Promise<{ queue: QueueState; moves: LineMove[] } | undefined> {
    const reply = await this.run<Unknown | ['found', QueueReply, MoveReply[]]>('read-moves', matchId, after, MAX_MOVES_PER_READ);
    return reply[0] === 'found' ? { queue: toQueue(reply[1]), moves: reply[2].map(toMove) } : undefined;
  }

  async keepEntry(fan: { matchId: string; userId: string; token: string }, websocketIds: readonly string[]): Promise<boolean> {
    return (await this.run<number>('keep-entry', fan.matchId, fan.userId, fan.token, ...websocketIds)) === 1;
  }

  async renewPresence(matchId: string, userIds: readonly string[]): Promise<void> {
    if (userIds.length > 0) await this.run('renew-presence', matchId, ...userIds);
  }

  async removeConnections(matchId: string, devices: readonly FanDevice[]): Promise<void> {
    const args = devices.flatMap(({ userId, websocketId }) => [userId, websocketId]);
    if (devices.length > 0) await this.run('remove-connections', matchId, AWAY_GRACE_MS, ...args);
  }

  async sendHeartbeat(matchId: string, pod: string, closed: readonly FanDevice[]): Promise<FanDevice[]> {
    const entries = closed.map(({ userId, websocketId }) => `${userId} ${websocketId}`);
    const replaced = await this.run<string[]>('beat-pod', matchId, pod, '1', ...entries);
    return replaced.map((entry) => {
      const [userId = '', websocketId = ''] = entry.split(' ');
      return { userId, websocketId };
    });
  }

  async removePod(matchId: string, pod: string): Promise<void> {
    await this.run('beat-pod', matchId, pod, '');
  }

  /**
   * Reads a token in a batch with other tokens of the same match. When a pod dies, thousands of fans reconnect to other pods within
   * seconds. A token read alone would cost two calls: 130 µs of Redis and as much of the pod. Only one batch per match runs at
   * a time, so that the pod's commands do not run into their timeout.
   */
  private async readInBatch(token: string, websocketId: string, kind: TokenToRead['kind']) {
    const owner = this.tokens.ownerOf(token);
    if (!owner) return undefined;
    const { matchId, userId } = owner;
    let reads = this.tokenReads.get(matchId);
    if (!reads) {
      reads = new Batcher((tokens) => this.readBatch(matchId, tokens), {
        maxBatchSize: MAX_TOKENS_PER_READ,
        keyOf: ({ token, websocketId }) => `${token} ${websocketId}`,
        startWith: queueMicrotask,
        onIdle: () => this.tokenReads.delete(matchId),
      });
      this.tokenReads.set(matchId, reads);
    }
    const entry = await reads.add({ userId, token, websocketId, kind });
    return typeof entry === 'object' ? { ...owner, entry } : entry;
  }

  private async readBatch(matchId: string, tokens: readonly TokenToRead[]): Promise<(QueueEntry | 'full' | undefined)[]> {
    const args = tokens.flatMap(({ userId, token, websocketId, kind }) => [userId, token, websocketId, kind]);
    type Reply = Unknown | ['found', QueueReply, (QueueEntryReply | 'full' | null)[]];
    const reply = await this.run<Reply>('read-entries', matchId, ...args);
    if (reply[0] === 'unknown') return tokens.map(() => undefined);
    const queue = toQueue(reply[1]);
    return reply[2].map((entry, index) =>
      Array.isArray(entry) ? toQueueEntry(entry, queue, tokens[index]!.token) : (entry ?? undefined),
    );
  }
}
