import { EventFetchError, type Event, type Source } from '../core/event.ts';
import {
  EventFetcher,
  EventStore,
  LoaderTime,
  Lock,
  LockFactory,
  Permit,
  SourceRateLimiter,
  PollLog,
  type AppendResult,
  type Batch,
  type FetchResult,
  type PollResult,
} from '../core/ports.ts';
import { readEvents, type UncheckedEntry } from '../core/reading-events.ts';
import { PERMIT_VALID_MS } from '../core/round-robin-event-loader.ts';

// In-memory implementations of the loader's ports, on a clock that a test moves by hand. They pass the same contract tests as the
// real adapters.

/** A clock that moves only by `advance` and `sleep`. */
export class ManualTime extends LoaderTime {
  private ms = 1000;
  now(): number {
    return this.ms;
  }
  sleep(ms: number): Promise<void> {
    this.advance(ms);
    return Promise.resolve();
  }
  async finishesWithin(_ms: number, work: Promise<void>): Promise<boolean> {
    await work;
    return true;
  }
  advance(ms: number): void {
    this.ms += ms;
  }
}

/** A fetcher whose sources are lists in `offered`. It records all requests. */
export class MemoryFetcher extends EventFetcher {
  readonly requests: { source: string; afterId: string | undefined; at: number }[] = [];
  /** By source name: all entries that the source has. */
  readonly offered = new Map<string, UncheckedEntry[]>();
  readonly failing = new Map<string, EventFetchError>();
  /** Called after the request was recorded and before its answer is returned. */
  beforeAnswer: (source: Source) => void | Promise<void> = () => undefined;

  constructor(private readonly time: LoaderTime) {
    super();
  }

  async fetch(source: Source, afterId: string | undefined, limit: number): Promise<FetchResult> {
    this.requests.push({ source: source.name, afterId, at: this.time.now() });
    const failure = this.failing.get(source.name);
    if (failure) throw failure;
    const all = this.offered.get(source.name) ?? [];
    const from = afterId === undefined ? 0 : all.findIndex(({ id }) => this.isBeyond(source, String(id), afterId));
    const page = from < 0 ? [] : all.slice(from, from + limit);
    await this.beforeAnswer(source);
    return readEvents(page, source.ids);
  }

  private isBeyond({ ids, name }: Source, id: string, afterId: string): boolean {
    if (ids === 'numbers') return Number(id) > Number(afterId);
    const order = (this.offered.get(name) ?? []).map((candidate) => candidate.id);
    return order.indexOf(id) > order.indexOf(afterId);
  }
}

interface Row {
  cursor?: string;
  lockNumber: number;
  refused: number;
  quarantined: Map<string, string>;
  events: Map<string, Event>;
}

/** An event store in memory. */
export class MemoryStore extends EventStore {
  private readonly rows = new Map<string, Row>();

  lastKnownId(source: Source): Promise<string | undefined> {
    return Promise.resolve(this.row(source).cursor);
  }

  append({ source, from, to, lockNumber, events, unrequested, bad, duplicates }: Batch): Promise<AppendResult> {
    const row = this.row(source);
    if (row.cursor !== from || lockNumber < row.lockNumber) return Promise.resolve({ kind: 'stale' });
    if (to !== undefined) row.cursor = to;
    row.lockNumber = lockNumber;
    let [stored, refused] = [0, duplicates];
    const before = row.quarantined.size;
    for (const { id, code, content } of bad) row.quarantined.set(`${id} ${code} ${content}`, code);
    for (const event of [...events, ...unrequested]) {
      const known = row.events.get(event.id);
      const isKnown = known && JSON.stringify(known.payload) === JSON.stringify(event.payload);
      if (isKnown) refused += 1;
      else if (known) row.quarantined.set(`${event.id} ${JSON.stringify(event.payload)}`, 'EVENT_IMMUTABILITY_VIOLATION');
      else if (events.includes(event)) {
        row.events.set(event.id, event);
        stored += 1;
      }
    }
    row.refused += refused;
    return Promise.resolve({ kind: 'appended', stored, refused, quarantined: row.quarantined.size - before });
  }

  stored(source: Source): string[] {
    return [...this.row(source).events.keys()];
  }

  quarantined(source: Source): string[] {
    return [...this.row(source).quarantined.values()];
  }

  private row({ name }: Source): Row {
    const row = this.rows.get(name) ?? { lockNumber: 0, refused: 0, quarantined: new Map(), events: new Map() };
    this.rows.set(name, row);
    return row;
  }
}

/** Locks of all loaders in one test. With `isOn` false (a negative control) every request gets the lock. */
export class MemoryLocks extends LockFactory {
  private readonly held = new Map<string, MemoryLock>();
  private lockNumber = 0;

  constructor(private readonly isOn = true) {
    super();
  }

  tryAcquire({ name }: Source): Promise<Lock | undefined> {
    if (this.isOn && this.held.has(name)) return Promise.resolve(undefined);
    this.lockNumber += 1;
    const lock = new MemoryLock(this.lockNumber, () => this.held.get(name) === lock && this.held.delete(name));
    this.held.set(name, lock);
    return Promise.resolve(lock);
  }

  /** Makes all locks expire, as if their holders had been frozen for longer than the lifetime of a lock. */
  expireAll(): void {
    this.held.clear();
  }
}

class MemoryLock extends Lock {
  isHeld = true;

  constructor(
    readonly lockNumber: number,
    private readonly onRelease: () => void,
  ) {
    super();
  }

  release(): Promise<void> {
    this.isHeld = false;
    this.onRelease();
    return Promise.resolve();
  }
}

/** A rate limiter of all loaders in one test. */
export class MemoryRateLimiter extends SourceRateLimiter {
  private readonly limitedUntil = new Map<string, number>();

  constructor(
    private readonly time: LoaderTime,
    private readonly gapMs = 200,
  ) {
    super();
  }

  tryAcquire({ name }: Source): Promise<Permit | undefined> {
    if (this.time.now() < (this.limitedUntil.get(name) ?? 0)) return Promise.resolve(undefined);
    this.limitedUntil.set(name, this.time.now() + PERMIT_VALID_MS + this.gapMs);
    const startGap = (): void => void this.limitedUntil.set(name, this.time.now() + this.gapMs);
    return Promise.resolve({ requestFinished: () => Promise.resolve(startGap()) });
  }
}

/** Keeps the results of all polls, and the sources whose breakers opened. */
export class MemoryPollLog extends PollLog {
  readonly results: [source: string, result: PollResult][] = [];
  readonly opened: string[] = [];

  record(source: Source, result: PollResult): Promise<void> {
    this.results.push([source.name, result]);
    return Promise.resolve();
  }

  breakerOpened({ name }: Source): void {
    this.opened.push(name);
  }

  kinds(): string[] {
    return this.results.map(([, { kind }]) => kind);
  }
}
