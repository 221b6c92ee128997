import { Metrics } from '#platform/health/metrics';
import type { EventStream } from '#platform/http/event-stream';
import { RequestRefused } from '#platform/http/request-refused';
import { limitedAddress } from '#platform/limits/client-address';
import type { Logger } from '#platform/logging/logger';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { LOGGER } from '../../../tokens.ts';
import { SeatViews, type AvailabilityView } from '../application/availability-reader.ts';
import { availabilityMessage } from './sectors.schemas.ts';

/** A stream costs about 20 KB and 10 µs of each message. */
const MOST_STREAMS = 5000;
/** Behind one address there may be a university; not half of what this process can hold. */
const MOST_OF_AN_ADDRESS = 2000;
/** So many are written to before others have their turn: 5,000 at once would be 50 ms in which nobody holds a seat. */
const SLICE = 250;
const TELL_EVERY_MS = 1000;
const BREATHE_EVERY_MS = 15_000;

/** Everybody in this process who watches one match, and what they were told last. */
interface Room {
  readonly streams: Set<EventStream>;
  told: AvailabilityView;
  timer: NodeJS.Timeout | undefined;
}

/** What is free, told to all who watch: looked up and put into words once for all of them, at most once a second. */
@Injectable()
export class AvailabilityStreams implements BeforeApplicationShutdown {
  private readonly rooms = new Map<string, Room>();
  private readonly addresses = new Map<string, number>();
  private open = 0;
  private breathing: NodeJS.Timeout | undefined;
  private isDraining = false;

  constructor(
    private readonly views: SeatViews,
    @Inject(LOGGER) private readonly logger: Logger,
    { registry }: Metrics,
  ) {
    const gauge: Gauge = new Gauge({
      name: 'availability_streams',
      help: 'Open availability streams of this process.',
      registers: [registry],
      collect: () => gauge.set(this.open),
    });
  }

  /** A place for one more; to be given back when its stream is closed. */
  takeSlot(ip: string): () => void {
    const retry = { headers: { 'retry-after': String(1 + Math.floor(Math.random() * 5)) } };
    if (this.isDraining) throw new RequestRefused('SHUTTING_DOWN', retry);
    if (this.open >= MOST_STREAMS) {
      throw new RequestRefused('DEPENDENCY_UNAVAILABLE', { detail: 'This server has all the streams it can hold.', ...retry });
    }
    const address = limitedAddress(ip);
    const ofAddress = this.addresses.get(address) ?? 0;
    if (ofAddress >= MOST_OF_AN_ADDRESS) {
      throw new RequestRefused('RATE_LIMITED', { detail: 'Too many streams are open from this address.', ...retry });
    }
    this.addresses.set(address, ofAddress + 1);
    this.open += 1;
    return () => {
      const rest = (this.addresses.get(address) ?? 1) - 1;
      if (rest > 0) this.addresses.set(address, rest);
      else this.addresses.delete(address);
      this.open -= 1;
    };
  }

  /** The state at once, then whatever changes. What was told to the others comes first, so that their next news fits. */
  join(matchId: string, stream: EventStream, view: AvailabilityView): void {
    let room = this.rooms.get(matchId);
    if (!room) {
      room = { streams: new Set(), told: view, timer: undefined };
      this.rooms.set(matchId, room);
      this.tellLater(matchId, room);
    }
    room.streams.add(stream);
    stream.send(availabilityMessage('snapshot', room.told.version, room.told.sectors));
    this.breathing ??= setInterval(() => this.sendHeartbeat(), BREATHE_EVERY_MS);
  }

  leave(matchId: string, stream: EventStream): void {
    const room = this.rooms.get(matchId);
    room?.streams.delete(stream);
    if (!room || room.streams.size > 0) return;
    clearTimeout(room.timer);
    this.rooms.delete(matchId);
    if (this.rooms.size > 0) return;
    clearInterval(this.breathing);
    this.breathing = undefined;
  }

  /** Before the server waits for its connections to end: these would not. Each comes back at a time of its own, elsewhere. */
  beforeApplicationShutdown(): void {
    this.isDraining = true;
    for (const { streams } of this.rooms.values()) {
      for (const stream of streams) stream.end(1000 + Math.floor(Math.random() * 4000));
    }
  }

  /** A second after what they know was looked up, so that it is never two seconds old. */
  private tellLater(matchId: string, room: Room, waitMs = room.told.asOfMs + TELL_EVERY_MS - performance.now()): void {
    room.timer = setTimeout(() => {
      this.tell(matchId, room).then(
        () => this.goOn(matchId, room),
        (error: unknown) => {
          this.logger.warn({ match_id: matchId, err: error }, 'what is free could not be looked up');
          this.goOn(matchId, room, TELL_EVERY_MS);
        },
      );
    }, waitMs);
  }

  private goOn(matchId: string, room: Room, waitMs?: number): void {
    if (room.streams.size > 0 && this.rooms.get(matchId) === room) this.tellLater(matchId, room, waitMs);
  }

  private async tell(matchId: string, room: Room): Promise<void> {
    const view = await this.views.sectors(matchId);
    const known = new Map(room.told.sectors.map(({ sectorId, available }) => [sectorId, available]));
    const changed = view.sectors.filter(({ sectorId, available }) => known.get(sectorId) !== available);
    room.told = view;
    if (changed.length === 0) return;
    const text = availabilityMessage('diff', view.version, changed);
    let written = 0;
    // Who comes meanwhile has heard the new state already and is not among these.
    for (const stream of [...room.streams]) {
      stream.send(text);
      written += 1;
      if (written % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private sendHeartbeat(): void {
    for (const { streams } of this.rooms.values()) for (const stream of streams) stream.sendHeartbeat();
  }
}
