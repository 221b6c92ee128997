import { EventFetchError, type Source } from './event.ts';
import type {
  Batch,
  EventFetcher,
  EventStore,
  Fetched,
  LoaderTime,
  Lock,
  LockFactory,
  Pass,
  SourceRateLimiter,
  PollResult,
  PollLog,
} from './ports.ts';
import { BusyNeighbours } from './busy-neighbours.ts';
import { askFrom, sift } from './sifting.ts';
import { SourceBreaker } from './source-breaker.ts';

const FETCH_LIMIT = 1000;
const IDLE_MS = 100;
/** Something of our own is away (database, Redis): asking it ten times a second does not bring it back. */
const TROUBLE_MS = 1000;
/**
 * A turn that takes longer is left to itself: a source that dribbles has 10 s for it, and would stop every other one of this
 * loader meanwhile. Turns take about 15 ms.
 */
const PATIENCE_MS = 500;
/** Each holds an answer of up to 8 MB. */
const MOST_SLOW = 16;
/** A pass is for now. Who was stopped between the gate and the request would come at a time that is another's. */
export const PASS_MS = 250;

export interface LoaderParts<S extends Source> {
  readonly sources: readonly S[];
  readonly fetcher: EventFetcher<S>;
  readonly store: EventStore;
  readonly locks: LockFactory;
  readonly gate: SourceRateLimiter;
  readonly log: PollLog;
  readonly time: LoaderTime;
}

/** `aborted` of an AbortSignal; the core knows no more of it. */
export interface StopSignal {
  readonly aborted: boolean;
}

/**
 * Any number of these, in any number of processes, share the same sources:
 *
 *   lock (who may fetch?) → gate (when?) → cursor → fetch at most 1,000 beyond it → append with the moved cursor → release
 *
 * Lock and gate are asked, never waited for: denied, it is the next source's turn, and so it is when a source takes its time.
 * The lock makes it unlikely that two fetch the same; the cursor's compare-and-set makes it impossible that two store the same.
 * A source's trouble is its own.
 */
export class RoundRobinEventLoader<S extends Source> {
  private readonly breakers: ReadonlyMap<string, SourceBreaker>;
  private readonly neighbours = new BusyNeighbours();
  /** What the sources said last of their own counts. */
  private readonly digests = new Map<string, string>();
  /** Sources whose last answer was junk, all of it known. */
  private readonly junk = new Set<string>();
  /** Turns that nobody waits for any more. */
  private readonly slow = new Map<string, Promise<void>>();
  private tally = new Tally<S>();
  private hasTrouble = false;

  constructor(private readonly parts: LoaderParts<S>) {
    this.breakers = new Map(parts.sources.map(({ name }) => [name, new SourceBreaker()]));
  }

  /** One pass over all sources, to its end; true when any of them gave something. */
  async runOnce(stop?: StopSignal): Promise<boolean> {
    await this.pass(stop);
    await Promise.all(this.slow.values());
    return this.conclude();
  }

  /** Until told to stop, which it does after the turns in hand. */
  async run(stop: StopSignal): Promise<void> {
    while (!stop.aborted) {
      await this.pass(stop);
      const worked = this.conclude();
      if (!stop.aborted && this.hasTrouble) await this.parts.time.sleep(TROUBLE_MS);
      else if (!stop.aborted && !worked) await this.parts.time.sleep(IDLE_MS);
    }
    await Promise.all(this.slow.values());
  }

  /** One after the other. A source that keeps its answer for itself is left to that, and the next one is asked meanwhile. */
  private async pass(stop?: StopSignal): Promise<void> {
    for (const source of this.parts.sources) {
      if (stop?.aborted) return;
      if (this.slow.has(source.name) || this.isPassedOver(source)) continue;
      const turn = this.pollOnce(source).then(() => void this.slow.delete(source.name));
      this.slow.set(source.name, turn);
      if (await this.parts.time.within(PATIENCE_MS, turn)) continue;
      if (this.slow.size >= MOST_SLOW) await Promise.race(this.slow.values());
    }
  }

  /** What is known without asking anybody costs nothing. */
  private isPassedOver(source: S): boolean {
    const now = this.parts.time.now();
    if (this.breakerOf(source).isResting(now)) return true;
    const isShut = this.parts.gate.isKnownShut(source);
    if (isShut) this.tally.isWell = true;
    return isShut || this.neighbours.careFor(source, now);
  }

  private async pollOnce(source: S): Promise<void> {
    const turn = await this.turn(source).catch((error: unknown): PollResult => ({ kind: 'failed', error }));
    this.tally.add(source, turn, this.judge(source, turn));
    await this.parts.log.heard(source, turn).catch(() => undefined);
  }

  /** Where all fail on our side the database or Redis is away; where one does it is left alone, as if it were its own fault. */
  private conclude(): boolean {
    const { ours, isWell, worked } = this.tally;
    this.tally = new Tally();
    this.hasTrouble = ours.length > 0 && !isWell;
    if (!this.hasTrouble) for (const source of ours) this.breakerOf(source).failed(this.parts.time.now(), false);
    return worked;
  }

  private async turn(source: S): Promise<PollResult> {
    const lock = await this.parts.locks.tryAcquire(source);
    if (!lock) return this.denied(source, 'locked');
    try {
      const askedAt = this.parts.time.now();
      const pass = await this.parts.gate.tryPass(source);
      if (!pass) return this.denied(source, 'gated');
      this.neighbours.had(source);
      const cursor = await this.parts.store.lastKnownId(source);
      const isLate = this.parts.time.now() - askedAt > PASS_MS;
      if (isLate || !lock.isHeld) return { kind: 'late' };
      return await this.load(source, cursor, lock, pass);
    } finally {
      await lock.release().catch(() => undefined);
    }
  }

  private denied(source: S, kind: 'locked' | 'gated'): PollResult {
    this.neighbours.denied(source, this.parts.time.now());
    return { kind };
  }

  private async load(source: S, cursor: string | undefined, lock: Lock, pass: Pass): Promise<PollResult> {
    const fetched = await this.fetchThrough(pass, source, cursor);
    const { name } = source;
    const digest = fetched.digest && `${fetched.digest.upToId} ${fetched.digest.count}`;
    const isNewDigest = digest !== undefined && digest !== this.digests.get(name);
    const batch = {
      source,
      from: cursor,
      fence: lock.fence,
      digest: fetched.digest,
      isAll: !(fetched.hasMore ?? fetched.events.length + fetched.bad.length >= FETCH_LIMIT),
      ...sift(source, cursor, fetched, FETCH_LIMIT),
    };
    const transported = fetched.events.length + fetched.bad.length;
    if (transported === 0 && !isNewDigest) return { kind: 'idle' };
    if (!lock.isHeld) return { kind: 'outpaced', transported };
    const appended = await this.parts.store.append(batch);
    if (appended.kind === 'outpaced') return { kind: 'outpaced', transported };
    if (digest !== undefined) this.digests.set(name, digest);
    this.refuseJunk(name, isJunk(batch, appended));
    const left = transported - FETCH_LIMIT;
    return left > 0 ? { ...appended, left } : appended;
  }

  /** Once may be another loader's leavings in a file. */
  private refuseJunk(name: string, isJunkAgain: boolean): void {
    const wasJunk = this.junk.delete(name);
    if (!isJunkAgain) return;
    this.junk.add(name);
    if (wasJunk) throw new EventFetchError('SOURCE_BAD_FORMAT', 'it sends the same again, and none of it is an event');
  }

  private async fetchThrough(pass: Pass, source: S, cursor: string | undefined): Promise<Fetched> {
    try {
      return await this.parts.fetcher.fetch(source, askFrom(source, cursor), FETCH_LIMIT);
    } finally {
      // Unheard, the gate stays shut as long as the pass was good, and a gap longer.
      await pass.used().catch(() => undefined);
    }
  }

  /** True when it failed on our side, not on the source's. */
  private judge(source: S, turn: PollResult): boolean {
    const breaker = this.breakerOf(source);
    if (turn.kind === 'idle' || turn.kind === 'appended' || turn.kind === 'outpaced') breaker.succeeded();
    if (turn.kind !== 'failed') return false;
    if (!(turn.error instanceof EventFetchError)) return true;
    const hasOpened = breaker.failed(this.parts.time.now(), turn.error.code === 'SOURCE_FORBIDDEN');
    if (hasOpened) this.parts.log.breakerOpened(source);
    return false;
  }

  private breakerOf(source: S): SourceBreaker {
    return this.breakers.get(source.name)!;
  }
}

/** What came of the turns since the last look. */
class Tally<S extends Source> {
  worked = false;
  isWell = false;
  /** Failed on our side, not on the source's. */
  readonly ours: S[] = [];

  add(source: S, turn: PollResult, isOurs: boolean): void {
    if (isOurs) this.ours.push(source);
    else this.isWell = true;
    this.worked ||= isWork(turn);
  }
}

/** All of it known, nothing to be read, and the cursor where it was: the next answer will be the same, and may be 8 MB. */
function isJunk({ from, to, events, unasked, bad }: Batch, { quarantined }: { readonly quarantined: number }): boolean {
  return from === to && bad.length > 0 && events.length + unasked.length + quarantined === 0;
}

/** What only repeats is none: the sleep after an idle round is for such a source, too. */
function isWork(turn: PollResult): boolean {
  if (turn.kind === 'appended') return turn.stored + turn.refused + turn.quarantined > 0;
  return turn.kind === 'outpaced';
}
