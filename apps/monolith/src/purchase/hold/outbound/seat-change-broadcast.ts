import type { SectorShare } from '#domain/purchase/sector-map';
import { newId } from '#platform/ids';
import { closeRedis, type RedisConnection } from '#platform/redis/redis-connection';
import { z } from 'zod';
import type { SeatsFreed, SeatsMoving } from '../application/ports.ts';

const CHANNEL = 'seat_news';
/** A process that has sent no broadcast for this time is taken to sell nothing, and gets no share of the seats. */
const ACTIVE_MS = 3000;
/** A process that sells alone broadcasts at most once in this time, and does not name the seats. */
const ALONE_INTERVAL_MS = 200;
/** How long the last message number of a process is remembered: a pause between two sales must not look like a lost message. */
const FORGET_PROCESS_MS = 3_600_000;

const messageSchema = z.object({
  /** Id of the sending process. */
  from: z.string(),
  /** Counts the messages of a process. A gap means that messages were lost. */
  number: z.int(),
  /** When the first of the taken seats may be free again, in milliseconds since 1970. */
  until: z.number(),
  /**
   * Ids of the taken seats, by sector. A process that believes to sell alone omits them: a receiver then knows that it missed some.
   */
  taken: z.record(z.string(), z.array(z.string())).optional(),
  /** Ids of free seats that move to a quota now, by sector. */
  moving: z.record(z.string(), z.array(z.string())).default({}),
  /** Sectors in which seats became free without the end of a hold. */
  freed: z.array(z.string()).default([]),
});

type Message = z.infer<typeof messageSchema>;
/** Ids of seats, by sector. */
type SeatIds = Readonly<Record<string, readonly string[]>>;

/** Message number of a sender that sells nothing: it gets no share of the seats, and none of its messages counts as missed. */
const NO_SELLER = 0;
/** Blocked seats are broadcast as taken for this time, in effect until the snapshot is refreshed for another reason. */
const YEAR_MS = 365 * 24 * 3_600_000;

/** Tells all processes which seats are no longer for sale although nobody holds them, for example blocked seats. */
export function broadcastBlocked(publisher: RedisConnection, seats: SeatIds): void {
  const text = JSON.stringify({ from: newId(), number: NO_SELLER, until: Date.now() + YEAR_MS, taken: seats });
  publisher.publish(CHANNEL, text).catch(() => undefined);
}

/** Receives the broadcasts of other processes. */
export interface SeatChangeListener {
  /** Another process holds these seats. */
  taken(sectorId: string, seatIds: readonly string[], untilMs: number): void;
  /** These free seats move to a quota now. */
  moving(sectorId: string, seatIds: readonly string[], untilMs: number): void;
  /** Seats of this sector became free without the end of a hold. */
  freed(sectorId: string): void;
  /** Messages were lost: every snapshot may be stale. */
  missed(): void;
}

/**
 * Tells the other processes over Redis pub/sub which seats this process has just held, so that they do not propose them. Without
 * these broadcasts a process would learn only from failed proposals that seats are taken. Refunded seats are broadcast too: a
 * snapshot refreshes itself when a hold ends, but with a refund no hold ends. While several processes sell, each proposes rows of
 * its own first (`share`). A process that sells alone only says now and then that it exists: naming hundreds of seats for each
 * batch cost it a twelfth of its time. Broadcasts are only hints: a lost one costs a failed proposal, never a seat.
 */
export class SeatChangeBroadcast implements SeatsFreed, SeatsMoving {
  private readonly id = newId();
  private readonly listeners: SeatChangeListener[] = [];
  private readonly others = new Map<string, { number: number; heardAt: number }>();
  private number = 0;
  private toldAt = 0;

  constructor(
    private readonly publisher: RedisConnection,
    private readonly subscriber: RedisConnection,
  ) {}

  listen(listener: SeatChangeListener): void {
    this.listeners.push(listener);
  }

  /** Subscribes in the background: without Redis every process goes on selling. */
  subscribe(): void {
    this.subscriber.on('message', (_channel: string, text: string) => this.receive(text));
    this.subscriber.on('ready', () => this.missed());
    this.subscriber.subscribe(CHANNEL).catch(() => undefined);
  }

  tell(taken: () => SeatIds, untilMs: number): void {
    this.number += 1;
    const now = Date.now();
    const isAlone = !this.share(now);
    if (isAlone && now - this.toldAt < ALONE_INTERVAL_MS) return;
    this.toldAt = now;
    this.publish(isAlone ? { until: untilMs } : { until: untilMs, taken: taken() });
  }

  tellFreed(sectorId: string): void {
    for (const listener of this.listeners) listener.freed(sectorId);
    this.number += 1;
    this.publish({ until: 0, taken: {}, freed: [sectorId] });
  }

  tellMoving(moving: SeatIds, until: number): void {
    for (const listener of this.listeners)
      for (const [sectorId, seatIds] of Object.entries(moving)) listener.moving(sectorId, seatIds, until);
    this.number += 1;
    this.publish({ until, taken: {}, moving });
  }

  /** The part of a sector that this process proposes first. Undefined when it sells alone. */
  share(now = Date.now()): SectorShare | undefined {
    let [index, of] = [0, 1];
    for (const [id, { heardAt }] of this.others) {
      if (now - heardAt > FORGET_PROCESS_MS) this.others.delete(id);
      if (now - heardAt > ACTIVE_MS) continue;
      of += 1;
      if (id < this.id) index += 1;
    }
    return of > 1 ? { index, of } : undefined;
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.subscriber);
  }

  private publish(change: { until: number; taken?: SeatIds; moving?: SeatIds; freed?: string[] }): void {
    const text = JSON.stringify({ from: this.id, number: this.number, ...change });
    this.publisher.publish(CHANNEL, text).catch(() => undefined);
  }

  private receive(text: string): void {
    // Redis delivers our own messages to us too. Skip them.
    if (text.startsWith(`{"from":"${this.id}"`)) return;
    const message = parse(text);
    if (!message) return;
    if (message.number !== NO_SELLER) this.noteSender(message);
    for (const listener of this.listeners) {
      for (const [sectorId, seatIds] of Object.entries(message.taken ?? {})) listener.taken(sectorId, seatIds, message.until);
      for (const [sectorId, seatIds] of Object.entries(message.moving)) listener.moving(sectorId, seatIds, message.until);
      for (const sectorId of message.freed) listener.freed(sectorId);
    }
  }

  private noteSender({ from, number, taken }: Message): void {
    const known = this.others.get(from);
    this.others.set(from, { number, heardAt: Date.now() });
    if (!taken || number !== (known?.number ?? 0) + 1) this.missed();
  }

  private missed(): void {
    for (const listener of this.listeners) listener.missed();
  }
}

function parse(text: string): Message | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
