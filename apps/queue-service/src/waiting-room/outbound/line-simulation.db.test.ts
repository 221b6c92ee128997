import { randomUUID } from 'node:crypto';
import { queueEvent, type QueueEvent } from '#contracts/integration-events';
import { queueKeys } from '#contracts/queue-keys';
import { LineView } from '../domain/line-view.ts';
import { positionsIn } from '../testing/view-positions.ts';
import { lineFixture, type LineFixture } from '../testing/line-fixture.ts';
import type { RedisWaitingLines } from './redis-waiting-lines.ts';

// Simulates lines with random steps from a seed. After each step Redis must agree with a model in memory. A failure names the seed.

let fixture: LineFixture;
beforeAll(async () => (fixture = await lineFixture()));
afterAll(() => fixture.close());

const SEEDS = 12;
const STEPS = 70;
/**
 * A fan counts as present for 20 s after a sign of life and stays in line for 60 s. AWAY_MS exceeds the first time, GONE_MS the
 * second.
 */
const PRESENCE_MS = 20_000;
const AWAY_MS = 30_000;
const GONE_MS = 61_000;

/** Mulberry32, a small seeded random generator. */
function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A line in Redis and a model of the line in memory. Each method changes the line and the model; `check` compares the two. */
class SimulatedLine {
  line: string[] = [];
  windows: string[] = [];
  granted: string[] = [];
  maxOpen = 0;
  readonly scores = new Map<string, string>();
  private readonly grants = new Map<string, Extract<QueueEvent, { event: 'queue.turn_granted' }>>();
  private generation = 1;
  readonly away = new Set<string>();
  /** Fans who have given a sign of life since the join, or were restored by a receipt. */
  readonly seen = new Set<string>();
  private view = new LineView<string>(0);

  constructor(
    readonly matchId: string,
    private readonly chance: () => number,
    private readonly pods: readonly RedisWaitingLines[],
  ) {}

  get pod(): RedisWaitingLines {
    return this.pods[Math.floor(this.chance() * this.pods.length)]!;
  }

  pick(users: readonly string[]): string | undefined {
    return users[Math.floor(this.chance() * users.length)];
  }

  async join(user: string, receiptScore?: string): Promise<void> {
    const outcome = await this.pod.join(this.matchId, user, receiptScore);
    if (!('entry' in outcome)) throw new Error(`joining was ${outcome.kind}`);
    this.away.delete(user);
    if (outcome.kind !== 'created') this.seen.add(user);
    if (outcome.kind === 'kept' || outcome.entry.state.kind !== 'waiting') return;
    const { state, score, queue } = outcome.entry;
    this.scores.set(user, score!);
    this.line = [...this.line, user].sort((a, b) => Number(this.scores.get(a)) - Number(this.scores.get(b)));
    this.view.add(user, { score: Number(score), position: state.position, asOf: queue.moves });
  }

  async leave(user: string): Promise<void> {
    await this.pod.leave(this.matchId, user);
    this.line = this.line.filter((other) => other !== user);
    this.windows = this.windows.filter((other) => other !== user);
  }

  async goAway(user: string): Promise<void> {
    await fixture.redis.zadd(queueKeys.seen(this.matchId), Date.now() - AWAY_MS, user);
    this.away.add(user);
    this.seen.add(user);
  }

  async comeBack(user: string): Promise<void> {
    await this.pod.renewPresence(this.matchId, [user]);
    this.away.delete(user);
    this.seen.add(user);
  }

  async drop(user: string): Promise<void> {
    await fixture.redis.zadd(queueKeys.seen(this.matchId), Date.now() - GONE_MS, user);
    await this.pod.dropAbsent(this.matchId, 50);
    this.line = this.line.filter((other) => other !== user);
    this.away.delete(user);
  }

  async admit(): Promise<void> {
    this.maxOpen = Math.max(0, this.windows.length - 1 + Math.floor(this.chance() * 5));
    await this.pod.change(this.matchId, { max_open_windows: this.maxOpen });
    await Promise.all(this.pods.map((pod) => pod.admit(this.matchId, 3)));
    await Promise.all(this.pods.map((pod) => pod.admit(this.matchId, 3)));
    const freeWindows = Math.max(0, this.maxOpen - this.windows.length);
    const next = this.line.filter((user) => !this.away.has(user)).slice(0, freeWindows);
    this.line = this.line.filter((user) => !next.includes(user));
    this.windows.push(...next);
    this.granted.push(...next);
  }

  async complete(user: string): Promise<void> {
    await this.pod.completeWindow(this.matchId, user);
    this.windows = this.windows.filter((other) => other !== user);
  }

  /**
   * Redis loses the match. The monolith restores, in parts, all turns that it has stored; the last granted turn may be missing. Then
   * all fans join again with their receipts in random order. Expected: fans in line keep their order, the fan of the missing turn
   * stands in front of them, and the receipt of a used or given-up turn is ignored.
   */
  async lose(): Promise<void> {
    await this.readGrants();
    const before = this.line;
    const stored = this.windows.filter((user, index) => index < this.windows.length - 1 || this.chance() < 0.5);
    const voided = this.windows.filter((user) => !stored.includes(user));
    const ended = [...this.grants.keys()].filter((user) => !this.windows.includes(user) && !before.includes(user));
    for (const user of voided) this.grants.delete(user);
    await fixture.redis.del(...(await fixture.redis.keys(`*{${this.matchId}}`)));
    await this.restore(stored);
    await fixture.lines.change(this.matchId, { max_open_windows: 0 });
    this.seen.clear();
    [this.line, this.windows, this.granted, this.view] = [[], stored, [], new LineView<string>(0)];
    const returning = [...voided, ...before, ...stored].map((user) => ({ user, at: this.chance() })).sort((a, b) => a.at - b.at);
    for (const { user } of returning) {
      if (stored.includes(user)) await this.joinIntoStoredTurn(user);
      else await this.join(user, this.scores.get(user));
    }
    if (this.line.join() !== [...voided, ...before].sort(this.byScore).join())
      throw new Error('receipts did not restore the order');
    const [again] = ended;
    if (!again) return;
    await this.join(again, this.scores.get(again));
    if (this.line.at(-1) !== again) throw new Error('a receipt of a used turn was accepted');
    // The fan `again` is in line with a new entry that has had no turn.
    this.grants.delete(again);
  }

  private readonly byScore = (a: string, b: string) => Number(this.scores.get(a)) - Number(this.scores.get(b));

  /** Reads the turns that the monolith would have stored: the latest turn of each fan. */
  private async readGrants(): Promise<void> {
    for (const [, fields] of await fixture.redis.xrange(queueKeys.events(this.matchId), '-', '+')) {
      const event = queueEvent.parse(JSON.parse(fields[1]!));
      if (event.event === 'queue.turn_granted') this.grants.set(event.user_id, event);
    }
  }

  private async restore(stored: readonly string[]): Promise<void> {
    const part = { exists: true, generation: (this.generation += 1), windows: [], used: [] };
    const sale = { status: 'active', processing_rate: 600_000, max_open_windows: 0 } as const;
    await this.pod.restore(this.matchId, { ...part, part: 0, sale });
    const windows = stored.map((user) => {
      const { session_token, expires_at, place_score } = this.grants.get(user)!;
      return { user_id: user, session_token, expires_at, place_score };
    });
    await this.pod.restore(this.matchId, { ...part, part: 1, windows });
    const used = [...this.grants].map(([user, { place_score: score = 0 }]) => [user, score] as const);
    await this.pod.restore(this.matchId, { ...part, part: 2, complete: true, used });
  }

  private async joinIntoStoredTurn(user: string): Promise<void> {
    const outcome = await this.pod.join(this.matchId, user, this.scores.get(user));
    const state = 'entry' in outcome ? outcome.entry.state : undefined;
    const token = state?.kind === 'granted' ? state.sessionToken : undefined;
    if (token !== this.grants.get(user)?.session_token) throw new Error('the restored turn has another session token');
  }

  async check(): Promise<string[]> {
    const { redis, lines } = fixture;
    const faults: string[] = [];
    const compare = (what: string, found: unknown, expected: unknown) => {
      if (JSON.stringify(found) !== JSON.stringify(expected))
        faults.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
    };
    compare('line', await redis.zrange(queueKeys.line(this.matchId), '0', '-1'), this.line);
    compare('windows', (await redis.hkeys(queueKeys.windows(this.matchId))).sort(), this.windows.toSorted());
    // `queue_seen` contains exactly the fans with a sign of life since the join.
    const seen = await redis.zrange(queueKeys.seen(this.matchId), '0', '-1');
    compare('seen', seen.toSorted(), this.line.filter((user) => this.seen.has(user)).toSorted());
    const entries = await redis.xrange(queueKeys.events(this.matchId), '-', '+');
    const events = entries.map(([, fields]) => queueEvent.parse(JSON.parse(fields[1]!)));
    compare(
      'grants',
      events.flatMap((event) => (event.event === 'queue.turn_granted' ? [event.user_id] : [])),
      this.granted,
    );
    const read = (await lines.readMoves(this.matchId, this.view.moves))!;
    compare('moves without a gap', this.view.apply(read.moves) !== undefined, true);
    compare('total', read.queue.total, this.line.length);
    const positions = positionsIn(this.view);
    compare(
      'positions',
      this.line.map((user) => positions.get(user)),
      this.line.map((_, index) => index + 1),
    );
    return faults;
  }
}

async function step(simulated: SimulatedLine, chance: () => number): Promise<string> {
  const action = chance();
  const [someone, holder] = [simulated.pick(simulated.line), simulated.pick(simulated.windows)];
  if (action < 0.3) return simulated.join(randomUUID()).then(() => 'join');
  if (action < 0.36 && someone) return simulated.join(someone).then(() => 'join again');
  if (action < 0.44 && someone) return simulated.leave(someone).then(() => 'leave');
  if (action < 0.47 && holder) return simulated.leave(holder).then(() => 'give up');
  if (action < 0.57 && someone) return simulated.goAway(someone).then(() => 'go away');
  if (action < 0.65 && someone) return simulated.comeBack(someone).then(() => 'come back');
  if (action < 0.68 && someone) return simulated.drop(someone).then(() => 'drop');
  if (action < 0.78 && holder) return simulated.complete(holder).then(() => 'complete');
  if (action < 0.8) return simulated.lose().then(() => 'lose');
  return simulated.admit().then(() => 'admit');
}

test('in 12 random lines the order, presence, limits, positions and receipts in Redis agree with a model after every step', async () => {
  const stepCounts = new Map<string, number>();
  const pods = [fixture.pod({ presenceMs: PRESENCE_MS }), fixture.pod({ presenceMs: PRESENCE_MS })];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const chance = chanceOf(seed);
    const simulated = new SimulatedLine(await fixture.match({ processing_rate: 600_000, max_open_windows: 0 }), chance, pods);
    for (let fan = 0; fan < 20; fan += 1) await simulated.join(randomUUID());
    const history: string[] = [];
    for (let number = 1; number <= STEPS; number += 1) {
      const what = await step(simulated, chance);
      history.push(what);
      stepCounts.set(what, (stepCounts.get(what) ?? 0) + 1);
      const faults = await simulated.check();
      if (faults.length > 0)
        throw new Error(`seed ${seed}, step ${number}: ${history.slice(-5).join(', ')}: ${faults.join('; ')}`);
    }
  }
  // Each of the ten kinds of steps has happened more than five times.
  expect(Math.min(...stepCounts.values())).toBeGreaterThan(5);
  expect(stepCounts.size).toBe(10);
});
