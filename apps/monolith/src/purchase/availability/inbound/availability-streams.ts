import type { AvailabilityMessage } from '#contracts/seats';
import { Metrics } from '#platform/health/metrics';
import type { EventStream } from '#platform/http/event-stream';
import { RequestRefused } from '#platform/http/request-refused';
import { limitedAddress } from '#platform/limits/client-address';
import type { Logger } from '#platform/logging/logger';
import { PeriodicTasks } from '#platform/schedule/periodic-tasks';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { LOGGER } from '../../../tokens.ts';
import { SeatViews, type AvailabilityView } from '../application/availability-reader.ts';

/** A stream costs about 20 KB of memory, and 10 µs for each message. */
const MAX_STREAMS = 5000;
/** Many viewers may share one IP address (a university), but one address gets less than half of the streams of a process. */
const MAX_STREAMS_PER_ADDRESS = 2000;
/**
 * Number of streams that get a message in one tick of the event loop. Writing to 5,000 streams in one tick would block other
 * requests, such as holds, for 50 ms.
 */
const STREAMS_PER_TICK = 250;
const UPDATE_INTERVAL_MS = 1000;

/** A match with open availability streams in this process. */
interface WatchedMatch {
  readonly viewers: Set<EventStream>;
  /** The availability that was sent last: all viewers of the match have it. */
  sent: AvailabilityView;
  updateTimer: NodeJS.Timeout | undefined;
}

/**
 * Streams the numbers of free seats to viewers. For each match they are read and rendered once for all viewers, at most once a
 * second.
 */
@Injectable()
export class AvailabilityStreams implements BeforeApplicationShutdown {
  private readonly watchedMatches = new Map<string, WatchedMatch>();
  private readonly streamsByAddress = new Map<string, number>();
  private open = 0;
  private isDraining = false;

  constructor(
    private readonly views: SeatViews,
    @Inject(LOGGER) private readonly logger: Logger,
    { registry }: Metrics,
    tasks: PeriodicTasks,
  ) {
    const heartbeats = {
      name: 'stream heartbeats',
      everyMs: 15_000,
      does: 'Sends a heartbeat on every open availability stream.',
    };
    tasks.add(heartbeats, () => {
      for (const { viewers } of this.watchedMatches.values()) for (const stream of viewers) stream.sendHeartbeat();
    });
    const gauge: Gauge = new Gauge({
      name: 'availability_streams',
      help: 'Open availability streams of this process.',
      registers: [registry],
      collect: () => gauge.set(this.open),
    });
  }

  /** Reserves one of the streams of this process, or throws. Returns the function that releases it when the stream is closed. */
  takeSlot(ip: string): () => void {
    const retry = { headers: { 'retry-after': String(1 + Math.floor(Math.random() * 5)) } };
    if (this.isDraining) throw new RequestRefused('SHUTTING_DOWN', retry);
    if (this.open >= MAX_STREAMS)
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', {
        detail: 'This server has as many streams as it can serve.',
        ...retry,
      });
    const address = limitedAddress(ip);
    const streamsOfAddress = this.streamsByAddress.get(address) ?? 0;
    if (streamsOfAddress >= MAX_STREAMS_PER_ADDRESS)
      throw new RequestRefused('RATE_LIMITED', { detail: 'Too many streams are open from this address.', ...retry });
    this.streamsByAddress.set(address, streamsOfAddress + 1);
    this.open += 1;
    return () => {
      const remaining = (this.streamsByAddress.get(address) ?? 1) - 1;
      if (remaining > 0) this.streamsByAddress.set(address, remaining);
      else this.streamsByAddress.delete(address);
      this.open -= 1;
    };
  }

  /**
   * Adds a viewer: sends a snapshot at once, and changes from then on. The snapshot is the state that the other viewers have, not
   * the newer `view`, so that the next diff is right for all viewers.
   */
  join(matchId: string, stream: EventStream, view: AvailabilityView): void {
    let match = this.watchedMatches.get(matchId);
    if (!match) {
      match = { viewers: new Set(), sent: view, updateTimer: undefined };
      this.watchedMatches.set(matchId, match);
      this.scheduleUpdate(matchId, match);
    }
    match.viewers.add(stream);
    stream.send(messageText('snapshot', match.sent.version, match.sent.sectors));
  }

  leave(matchId: string, stream: EventStream): void {
    const match = this.watchedMatches.get(matchId);
    match?.viewers.delete(stream);
    if (!match || match.viewers.size > 0) return;
    clearTimeout(match.updateTimer);
    this.watchedMatches.delete(matchId);
  }

  /**
   * Ends all streams before the server waits for its connections to close, because streams never close by themselves. Each stream
   * gets a random time to reconnect, so that the viewers do not arrive at the other replicas all at once.
   */
  beforeApplicationShutdown(): void {
    this.isDraining = true;
    for (const { viewers } of this.watchedMatches.values()) {
      for (const stream of viewers) stream.end(1000 + Math.floor(Math.random() * 4000));
    }
  }

  /**
   * Plans the next read one second after the last sent state was read, so that viewers never have a state that is two seconds old.
   */
  private scheduleUpdate(
    matchId: string,
    match: WatchedMatch,
    waitMs = Math.max(0, match.sent.readAtMs + UPDATE_INTERVAL_MS - performance.now()),
  ): void {
    match.updateTimer = setTimeout(() => void this.update(matchId, match), waitMs);
  }

  private async update(matchId: string, match: WatchedMatch): Promise<void> {
    let waitMs: number | undefined;
    try {
      await this.sendChanges(matchId, match);
    } catch (error) {
      const message = 'availability could not be read for its viewers, will be tried again';
      this.logger.warn({ match_id: matchId, err: error }, message);
      waitMs = UPDATE_INTERVAL_MS;
    }
    if (match.viewers.size > 0 && this.watchedMatches.get(matchId) === match) this.scheduleUpdate(matchId, match, waitMs);
  }

  private async sendChanges(matchId: string, match: WatchedMatch): Promise<void> {
    const view = await this.views.sectors(matchId);
    const sent = new Map(match.sent.sectors.map(({ sectorId, available }) => [sectorId, available]));
    const changed = view.sectors.filter(({ sectorId, available }) => sent.get(sectorId) !== available);
    match.sent = view;
    if (changed.length === 0) return;
    const text = messageText('diff', view.version, changed);
    let written = 0;
    // A copy: viewers who join during the loop already got the new state as their snapshot.
    for (const stream of [...match.viewers]) {
      stream.send(text);
      written += 1;
      if (written % STREAMS_PER_TICK === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function messageText(type: AvailabilityMessage['type'], version: number, sectors: AvailabilityView['sectors']): string {
  const items = sectors.map(({ sectorId, available }) => ({ id: sectorId, available }));
  return JSON.stringify({ type, version, sectors: items } satisfies AvailabilityMessage);
}
