import { queueKeys } from '#contracts/queue-keys';
import type { Batcher } from '#platform/batching/batcher';
import type { QueueState, RemainingSector } from '../domain/fan-state.ts';
import type { LinePace } from '../domain/wait-estimate.ts';
import type {
  AdmissionResult,
  ChangeOutcome,
  JoinOutcome,
  QueueEntry,
  QueueChange,
  RestoredPart,
  WaitingLines,
} from '../application/ports.ts';
import { joinBatches, type QueuedJoin } from './join-batches.ts';
import { newSessionToken } from './queue-token.ts';
import { RedisConnectedFans } from './redis-connected-fans.ts';
import { toQueueEntry, toQueue, type QueueEntryReply, type QueueReply } from './redis-replies.ts';

type Unknown = ['unknown'];
/** The result of one join, as join-line.lua returns it. A string is the score of a new queue entry. */
type JoinedReply = string | [outcome: 'restored' | 'kept', QueueEntryReply] | ['refused'];
type JoinReply = Unknown | ['found', QueueReply, firstPosition: number, string | JoinedReply[]];
type EntryReply = Unknown | ['found', QueueReply, QueueEntryReply];

/** Shortest time between two `queue.position_update` events of a match. */
const POSITIONS_INTERVAL_MS = 60_000;

/**
 * The lines of all matches, stored only in Redis. Each method runs one atomic script of lua/, so any number of pods may share the
 * lines.
 */
export class RedisWaitingLines extends RedisConnectedFans implements WaitingLines {
  private readonly joins = new Map<string, Batcher<QueuedJoin, JoinOutcome>>();
  private readonly knownMatches = new Set<string>();

  join(matchId: string, userId: string, receiptScore = ''): Promise<JoinOutcome> {
    let joins = this.joins.get(matchId);
    if (!joins) {
      joins = joinBatches(
        (batch) => this.joinBatch(matchId, batch),
        () => this.joins.delete(matchId),
      );
      this.joins.set(matchId, joins);
    }
    return joins.add({ userId, receiptScore });
  }

  async pollEntry(matchId: string, userId: string): Promise<QueueEntry | undefined> {
    const reply = await this.run<EntryReply>('poll-entry', matchId, userId, this.tokens.issue(matchId, userId));
    return reply[0] === 'found' ? toQueueEntry(reply[2], toQueue(reply[1])) : undefined;
  }

  async leave(matchId: string, userId: string): Promise<void> {
    await this.run('leave-line', matchId, userId, '');
  }

  async forget(matchId: string, userId: string): Promise<void> {
    await this.run('leave-line', matchId, userId, 'forget');
  }

  async completeWindow(matchId: string, userId: string, sessionToken = ''): Promise<void> {
    await this.run('complete-window', matchId, userId, sessionToken);
  }

  async change(matchId: string, change: QueueChange): Promise<{ outcome: ChangeOutcome; isKnown: boolean }> {
    await this.addToMatchList(matchId);
    const text = JSON.stringify(settingsOf(change));
    const [outcome, isKnown] = await this.run<[ChangeOutcome, number]>('control-queue', matchId, text);
    return { outcome, isKnown: isKnown === 1 };
  }

  async restore(matchId: string, part: RestoredPart): Promise<ChangeOutcome | 'out_of_step'> {
    if (part.exists !== false) await this.addToMatchList(matchId);
    const args = [part.generation ?? 0, part.part ?? 0, part.complete ? '1' : '', JSON.stringify(contentOf(part))];
    return this.run<ChangeOutcome | 'out_of_step'>('restore-queue', matchId, ...args);
  }

  async reportRemaining(matchId: string, sectors: readonly RemainingSector[], asOf?: number): Promise<ChangeOutcome> {
    const text = sectors.length === 0 ? '' : JSON.stringify(sectors);
    return this.run<ChangeOutcome>('report-sold-out', matchId, text, asOf ?? '');
  }

  async readQueue(matchId: string): Promise<QueueState | undefined> {
    const reply = await this.run<Unknown | ['found', QueueReply]>('read-queue', matchId);
    return reply[0] === 'found' ? toQueue(reply[1]) : undefined;
  }

  /**
   * All match ids with a queue. Redis keeps them in one key. If it has lost the key, this pod writes the ids it knows again. No
   * id is ever removed.
   */
  async matches(): Promise<string[]> {
    const listed = new Set(await this.redis.smembers(queueKeys.matches));
    const missing = [...this.knownMatches].filter((matchId) => !listed.has(matchId));
    if (missing.length > 0) await this.redis.sadd(queueKeys.matches, ...missing);
    for (const matchId of listed) this.knownMatches.add(matchId);
    return [...this.knownMatches];
  }

  async drainClosed(matchId: string, limit: number): Promise<number> {
    return this.run<number>('drain-closed', matchId, limit);
  }

  async endWindows(matchId: string, limit: number): Promise<number> {
    return this.run<number>('end-windows', matchId, limit);
  }

  async dropAbsent(matchId: string, limit: number): Promise<number> {
    return this.run<number>('drop-absent', matchId, limit);
  }

  async admit(matchId: string, limit: number): Promise<AdmissionResult> {
    const tokens = Array.from({ length: limit }, newSessionToken);
    type Reply = [granted: number, hasMore: number, isIdle: number, stateNeeded: number];
    const [granted, hasMore, isIdle, stateNeeded] = await this.runConfirmed<Reply>(
      'admit-front',
      matchId,
      this.settings.purchaseWindowMs,
      ...tokens,
    );
    if (stateNeeded === 0) this.noteKnownState(matchId);
    return { granted, hasMore: hasMore === 1, isIdle: isIdle === 1 };
  }

  async announcePositions(matchId: string, pace: LinePace | undefined): Promise<number> {
    const numbers = pace ? [pace.fansPerMinute, pace.freeWindows, pace.minutesPerCompletion] : [0, 0, 0];
    return this.run<number>('announce-positions', matchId, POSITIONS_INTERVAL_MS, ...numbers);
  }

  private async joinBatch(matchId: string, joins: readonly QueuedJoin[]): Promise<JoinOutcome[]> {
    const userIds = joins.map(({ userId }) => userId);
    const tokens = this.tokens.issueAll(matchId, userIds);
    const args: (string | number)[] = [joins.length, zeroTerminated(userIds), zeroTerminated(tokens)];
    for (const [index, { receiptScore }] of joins.entries()) if (receiptScore !== '') args.push(index + 1, receiptScore);
    const reply = await this.runConfirmed<JoinReply>('join-line', matchId, ...args);
    if (reply[0] === 'unknown') return joins.map(() => ({ kind: 'unknown' }));
    const queue = toQueue(reply[1]);
    const [, , firstPosition, outcomes] = reply;
    const created = (position: number, index: number, score: string): JoinOutcome => {
      const state = { kind: 'waiting', position } as const;
      return { kind: 'created', entry: { state, queue, queueToken: tokens[index]!, score } };
    };
    if (typeof outcomes === 'string')
      return joins.map((_, index) => created(firstPosition + index, index, String(Number(outcomes) + index)));
    let position = firstPosition - 1;
    return outcomes.map((joined, index): JoinOutcome => {
      if (typeof joined === 'string') return created((position += 1), index, joined);
      return joined[0] === 'refused' ? refusalOf(queue) : { kind: joined[0], entry: toQueueEntry(joined[1], queue) };
    });
  }

  /**
   * Adds a match to the list of matches before its queue is written: the list and the queue are in different cluster slots. A queue
   * missing from the list would grant no turns; a listed match without a queue only costs a read.
   */
  private async addToMatchList(matchId: string): Promise<void> {
    await this.redis.sadd(queueKeys.matches, matchId);
    this.knownMatches.add(matchId);
  }
}

/** Joins texts with a zero byte after each. join-line.lua splits them again. */
function zeroTerminated(texts: readonly string[]): string {
  return `${texts.join('\0')}\0`;
}

function refusalOf({ status, closedReason, opensAt }: QueueState): JoinOutcome {
  return status === 'closed' ? { kind: 'closed', reason: closedReason ?? 'closed' } : { kind: 'scheduled', opensAt };
}

/** The settings as JSON fields that parts/settings.lua reads. */
function settingsOf({ opens_at, ...settings }: NonNullable<RestoredPart['sale']>) {
  return { ...settings, opens_at_ms: opens_at ? Date.parse(opens_at) : opens_at };
}

/** One part of a match's state as JSON fields that restore-queue.lua reads. */
function contentOf({ exists, sale, counts, windows, used }: RestoredPart) {
  const timed = windows?.map((each) => [each.user_id, each.session_token, Date.parse(each.expires_at), each.place_score]);
  return { exists, sale: sale && settingsOf(sale), counts, windows: timed, used };
}
