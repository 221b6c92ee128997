import { EventFetchError, type Event, type Source } from '../core/event.ts';
import {
  EventFetcher,
  EventStore,
  LoaderTime,
  Lock,
  LockFactory,
  Pass,
  SourceRateLimiter,
  PollLog,
  type Appended,
  type Batch,
  type Fetched,
  type PollResult,
} from '../core/ports.ts';
import { readEvents, type Candidate } from '../core/reading-events.ts';

/** Everything the loader needs, in memory and on a clock that is moved by hand. Held to the same suites as the adapters. */
export class ManualTime extends LoaderTime {
  private ms = 1000;
  now(): number {
    return this.ms;
  }
  sleep(ms: number): Promise<void> {
    this.pass(ms);
    return Promise.resolve();
  }
  async within(_ms: number, work: Promise<void>): Promise<boolean> {
    await work;
    return true;
  }
  pass(ms: number): void {
    this.ms += ms;
  }
}

export class MemoryFetcher extends EventFetcher {
  readonly asked: { source: string; afterId: string | undefined; at: number }[] = [];
  readonly offered = new Map<string, Candidate[]>();
  readonly failing = new Map<string, EventFetchError>();
  /** Called while the answer is on its way. */
  onTheWay: (source: Source) => void | Promise<void> = () => undefined;

  constructor(private readonly time: LoaderTime) {
    super();
  }

  async fetch(source: Source, afterId: string | undefined, limit: number): Promise<Fetched> {
    this.asked.push({ source: source.name, afterId, at: this.time.now() });
    const failure = this.failing.get(source.name);
    if (failure) throw failure;
    const all = this.offered.get(source.name) ?? [];
    const from = afterId === undefined ? 0 : all.findIndex(({ id }) => this.isBeyond(source, String(id), afterId));
    const page = from < 0 ? [] : all.slice(from, from + limit);
    await this.onTheWay(source);
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
  fence: number;
  refused: number;
  quarantined: Map<string, string>;
  events: Map<string, Event>;
}

export class MemoryStore extends EventStore {
  private readonly rows = new Map<string, Row>();

  lastKnownId(source: Source): Promise<string | undefined> {
    return Promise.resolve(this.row(source).cursor);
  }

  append({ source, from, to, fence, events, unasked, bad, repeated }: Batch): Promise<Appended> {
    const row = this.row(source);
    if (row.cursor !== from || fence < row.fence) return Promise.resolve({ kind: 'outpaced' });
    if (to !== undefined) row.cursor = to;
    row.fence = fence;
    let [stored, refused] = [0, repeated];
    const before = row.quarantined.size;
    for (const { id, code, content } of bad) row.quarantined.set(`${id} ${code} ${content}`, code);
    for (const event of [...events, ...unasked]) {
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
    const row = this.rows.get(name) ?? { fence: 0, refused: 0, quarantined: new Map(), events: new Map() };
    this.rows.set(name, row);
    return row;
  }
}

export class MemoryLocks extends LockFactory {
  private readonly held = new Map<string, MemoryLock>();
  private fence = 0;

  constructor(private readonly isOn = true) {
    super();
  }

  tryAcquire({ name }: Source): Promise<Lock | undefined> {
    if (this.isOn && this.held.has(name)) return Promise.resolve(undefined);
    this.fence += 1;
    const lock = new MemoryLock(this.fence, () => this.held.get(name) === lock && this.held.delete(name));
    this.held.set(name, lock);
    return Promise.resolve(lock);
  }

  /** As if every holder had been frozen for longer than a lock lives. */
  lapseAll(): void {
    this.held.clear();
  }
}

class MemoryLock extends Lock {
  isHeld = true;

  constructor(
    readonly fence: number,
    private readonly letGo: () => void,
  ) {
    super();
  }

  release(): Promise<void> {
    this.isHeld = false;
    this.letGo();
    return Promise.resolve();
  }
}

const PASS_MS = 250;

export class MemoryRateLimiter extends SourceRateLimiter {
  private readonly shutUntil = new Map<string, number>();

  constructor(
    private readonly time: LoaderTime,
    private readonly gapMs = 200,
  ) {
    super();
  }

  tryPass({ name }: Source): Promise<Pass | undefined> {
    if (this.time.now() < (this.shutUntil.get(name) ?? 0)) return Promise.resolve(undefined);
    this.shutUntil.set(name, this.time.now() + PASS_MS + this.gapMs);
    const used = (): void => void this.shutUntil.set(name, this.time.now() + this.gapMs);
    return Promise.resolve({ used: () => Promise.resolve(used()) });
  }
}

export class PollList extends PollLog {
  readonly turns: [source: string, turn: PollResult][] = [];
  readonly opened: string[] = [];

  heard(source: Source, turn: PollResult): Promise<void> {
    this.turns.push([source.name, turn]);
    return Promise.resolve();
  }

  breakerOpened({ name }: Source): void {
    this.opened.push(name);
  }

  kinds(): string[] {
    return this.turns.map(([, { kind }]) => kind);
  }
}
