import { EventFetchError, type Source } from './event.ts';
import type {
  Batch,
  EventFetcher,
  EventStore,
  FetchResult,
  LoaderTime,
  Lock,
  LockFactory,
  Permit,
  SourceRateLimiter,
  PollResult,
  PollLog,
} from './ports.ts';
import { ContentionBackoff } from './contention-backoff.ts';
import { fetchStart, normalizeAnswer } from './normalize-answer.ts';
import { SourceBreaker } from './source-breaker.ts';

const FETCH_LIMIT = 1000;
const IDLE_SLEEP_MS = 100;
/** The pause between two passes while the database or Redis is down, because every poll would fail. */
const OUTAGE_SLEEP_MS = 1000;
/**
 * How long the loader waits for a poll before it goes on to the next source; the poll continues in the background. A source may
 * take 10 s for its answer and must not block the other sources meanwhile. A poll usually takes about 15 ms.
 */
const POLL_WAIT_MS = 500;
/** Limits memory: each running poll holds an answer of up to 8 MB. */
const MAX_RUNNING_POLLS = 16;
/**
 * A permit that is older than this is not used. A loader that was frozen after it got its permit would otherwise send its request
 * in a time slot that belongs to another loader.
 */
export const PERMIT_VALID_MS = 250;

/** The sources that a loader loads, and the ports that it needs. */
export interface LoaderOptions<S extends Source> {
  readonly sources: readonly S[];
  readonly fetcher: EventFetcher<S>;
  readonly store: EventStore;
  readonly locks: LockFactory;
  readonly rateLimiter: SourceRateLimiter;
  readonly log: PollLog;
  readonly time: LoaderTime;
}

/** The part of an AbortSignal that this folder needs. Declared here, because this folder compiles without Node's types. */
export interface StopSignal {
  readonly aborted: boolean;
}

/**
 * Loads events from many sources. Any number of loaders, in any number of processes, may share the same sources. One poll of one
 * source:
 *
 *   lock → rate limiter → cursor → fetch at most 1,000 events after it → append events and new cursor → release the lock
 *
 * The loader never waits for a lock or the rate limiter: if the lock or the rate limiter refuses, or if a poll is slow, the
 * loader goes on to the next source. The lock makes it unlikely that two loaders fetch the same events. The compare-and-set of
 * the cursor makes it impossible that they store the same events twice. A failing source does not affect the other sources.
 */
export class RoundRobinEventLoader<S extends Source> {
  private readonly breakers: ReadonlyMap<string, SourceBreaker>;
  private readonly contention = new ContentionBackoff();
  /** By source name: its latest digest (the source's own count of its events), to notice when it changes. */
  private readonly digests = new Map<string, string>();
  /** Sources whose last answer had only bad entries, all of them quarantined before. */
  private readonly onlyKnownBad = new Set<string>();
  /** Polls that are not finished, by source; `POLL_WAIT_MS` after their start they continue in the background. */
  private readonly runningPolls = new Map<string, Promise<void>>();
  private summary = new PassSummary<S>();
  private hasOutage = false;

  constructor(private readonly parts: LoaderOptions<S>) {
    this.breakers = new Map(parts.sources.map(({ name }) => [name, new SourceBreaker()]));
  }

  /** Polls each source once and waits for all polls. True if any source had work. */
  async runOnce(stop?: StopSignal): Promise<boolean> {
    await this.pollAll(stop);
    await Promise.all(this.runningPolls.values());
    return this.finishPass();
  }

  /**
   * Polls all sources again and again until `stop` is aborted. Returns when the running polls are finished. `afterPass` is called
   * each time all sources had their turn, also if they failed.
   */
  async run(stop: StopSignal, afterPass: () => void = () => undefined): Promise<void> {
    while (!stop.aborted) {
      await this.pollAll(stop);
      const hadWork = this.finishPass();
      afterPass();
      if (!stop.aborted && this.hasOutage) await this.parts.time.sleep(OUTAGE_SLEEP_MS);
      else if (!stop.aborted && !hadWork) await this.parts.time.sleep(IDLE_SLEEP_MS);
    }
    await Promise.all(this.runningPolls.values());
  }

  /** Polls one source after the other. A slow poll continues in the background while the next source is polled. */
  private async pollAll(stop?: StopSignal): Promise<void> {
    for (const source of this.parts.sources) {
      if (stop?.aborted) return;
      if (this.runningPolls.has(source.name) || this.isSkipped(source)) continue;
      const poll = this.pollOnce(source).then(() => void this.runningPolls.delete(source.name));
      this.runningPolls.set(source.name, poll);
      if (await this.parts.time.finishesWithin(POLL_WAIT_MS, poll)) continue;
      if (this.runningPolls.size >= MAX_RUNNING_POLLS) await Promise.race(this.runningPolls.values());
    }
  }

  /**
   * True if the source is paused or certainly rate limited. Decided from local memory, without a call to Redis or the database.
   */
  private isSkipped(source: S): boolean {
    const now = this.parts.time.now();
    if (this.breakerOf(source).isPaused(now)) return true;
    const isLimited = this.parts.rateLimiter.isKnownLimited(source);
    if (isLimited) this.summary.hasOtherResult = true;
    return isLimited || this.contention.isPaused(source, now);
  }

  private async pollOnce(source: S): Promise<void> {
    const result = await this.poll(source).catch((error: unknown): PollResult => ({ kind: 'failed', error }));
    this.summary.add(source, result, this.updateBreaker(source, result));
    await this.parts.log.record(source, result).catch(() => undefined);
  }

  /**
   * Ends a pass over the sources: resets its summary and returns whether any source had work. If every poll failed on our side,
   * the database or Redis is down. If only some polls did, the breakers of their sources count a failure, as if the source had
   * failed.
   */
  private finishPass(): boolean {
    const { failedOnOurSide, hasOtherResult, hadWork } = this.summary;
    this.summary = new PassSummary();
    this.hasOutage = failedOnOurSide.length > 0 && !hasOtherResult;
    if (!this.hasOutage) for (const source of failedOnOurSide) this.breakerOf(source).failed(this.parts.time.now(), false);
    return hadWork;
  }

  private async poll(source: S): Promise<PollResult> {
    const lock = await this.parts.locks.tryAcquire(source);
    if (!lock) return this.refused(source, 'locked');
    try {
      const requestedAt = this.parts.time.now();
      const permit = await this.parts.rateLimiter.tryAcquire(source);
      if (!permit) return this.refused(source, 'rateLimited');
      this.contention.acquired(source);
      const cursor = await this.parts.store.lastKnownId(source);
      const hasExpired = this.parts.time.now() - requestedAt > PERMIT_VALID_MS;
      if (hasExpired || !lock.isHeld) return { kind: 'permitExpired' };
      return await this.load(source, cursor, lock, permit);
    } finally {
      await lock.release().catch(() => undefined);
    }
  }

  private refused(source: S, kind: 'locked' | 'rateLimited'): PollResult {
    this.contention.refused(source, this.parts.time.now());
    return { kind };
  }

  private async load(source: S, cursor: string | undefined, lock: Lock, permit: Permit): Promise<PollResult> {
    const fetched = await this.fetchWith(permit, source, cursor);
    const { name } = source;
    const digest = fetched.digest && `${fetched.digest.upToId} ${fetched.digest.count}`;
    const isNewDigest = digest !== undefined && digest !== this.digests.get(name);
    const batch = {
      source,
      from: cursor,
      lockNumber: lock.lockNumber,
      digest: fetched.digest,
      isCaughtUp: !(fetched.hasMore ?? fetched.events.length + fetched.bad.length >= FETCH_LIMIT),
      ...normalizeAnswer(source, cursor, fetched, FETCH_LIMIT),
    };
    const fetchedCount = fetched.events.length + fetched.bad.length;
    if (fetchedCount === 0 && !isNewDigest) return { kind: 'idle' };
    if (!lock.isHeld) return { kind: 'stale', fetchedCount };
    const appended = await this.parts.store.append(batch);
    if (appended.kind === 'stale') return { kind: 'stale', fetchedCount };
    if (digest !== undefined) this.digests.set(name, digest);
    this.failIfBadAgain(name, hasOnlyKnownBad(batch, appended));
    const excess = fetchedCount - FETCH_LIMIT;
    return excess > 0 ? { ...appended, excess } : appended;
  }

  /**
   * Throws at the second answer in a row that has only bad entries that were quarantined before, so that the breaker pauses the
   * source. The first such answer is normal: another loader may have quarantined the entries of a file.
   */
  private failIfBadAgain(name: string, isOnlyKnownBad: boolean): void {
    const wasOnlyKnownBad = this.onlyKnownBad.delete(name);
    if (!isOnlyKnownBad) return;
    this.onlyKnownBad.add(name);
    if (wasOnlyKnownBad) throw new EventFetchError('SOURCE_BAD_FORMAT', 'it sends the same invalid entries again and no events');
  }

  private async fetchWith(permit: Permit, source: S, cursor: string | undefined): Promise<FetchResult> {
    try {
      return await this.parts.fetcher.fetch(source, fetchStart(source, cursor), FETCH_LIMIT);
    } finally {
      // If this call fails, the next request has to wait for the lifetime of the permit plus one gap.
      await permit.requestFinished().catch(() => undefined);
    }
  }

  /**
   * Counts the result in the source's breaker. Returns true if the poll failed on our side (database, Redis), not because of the
   * source.
   */
  private updateBreaker(source: S, result: PollResult): boolean {
    const breaker = this.breakerOf(source);
    if (result.kind === 'idle' || result.kind === 'appended' || result.kind === 'stale') breaker.succeeded();
    if (result.kind !== 'failed') return false;
    if (!(result.error instanceof EventFetchError)) return true;
    const hasOpened = breaker.failed(this.parts.time.now(), result.error.code === 'SOURCE_FORBIDDEN');
    if (hasOpened) this.parts.log.breakerOpened(source);
    return false;
  }

  private breakerOf(source: S): SourceBreaker {
    return this.breakers.get(source.name)!;
  }
}

/** Results of the polls since the last `finishPass`. */
class PassSummary<S extends Source> {
  hadWork = false;
  /** True if at least one source was polled or skipped without a failure of the database or Redis. */
  hasOtherResult = false;
  /** Sources whose poll failed because of the database or Redis. */
  readonly failedOnOurSide: S[] = [];

  add(source: S, result: PollResult, isOurFailure: boolean): void {
    if (isOurFailure) this.failedOnOurSide.push(source);
    else this.hasOtherResult = true;
    this.hadWork ||= isWork(result);
  }
}

/**
 * True if the answer had only bad entries, all quarantined before, and the cursor did not move. Then the next fetch would return
 * the same answer of up to 8 MB.
 */
function hasOnlyKnownBad(
  { from, to, events, unrequested, bad }: Batch,
  { quarantined }: { readonly quarantined: number },
): boolean {
  return from === to && bad.length > 0 && events.length + unrequested.length + quarantined === 0;
}

/** True if the poll stored, refused or quarantined an event. Otherwise the loader sleeps as after a pass without new events. */
function isWork(result: PollResult): boolean {
  if (result.kind === 'appended') return result.stored + result.refused + result.quarantined > 0;
  return result.kind === 'stale';
}
