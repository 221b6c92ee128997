import { newId } from '#platform/ids';
import { closeRedis, type RedisConnection } from '#platform/redis/redis-connection';
import type { SeatsFreed } from '../application/ports.ts';
import type { Share } from '#domain/purchase/sector-map';
import { z } from 'zod';

const CHANNEL = 'seat_news';
/** Who has sold nothing for so long shares no seats with us. */
const QUIET_MS = 3000;
/** A process that hears nobody says so often that it is there. */
const ALONE_TELL_MS = 200;
/** Its numbers are known for longer: who sells now and then must not look like one whose news were lost. */
const FORGET_PEER_MS = 3_600_000;

const message = z.object({
  from: z.string(),
  number: z.int(),
  /** When the first of them may be free again. */
  until: z.number(),
  /** Left out by who believes to sell alone; who hears it knows that it missed some. */
  taken: z.record(z.string(), z.array(z.string())).optional(),
  /** Sectors in which seats are free that nobody's hold gave back. */
  freed: z.array(z.string()).default([]),
});

type News = z.infer<typeof message>;

/** The number of news of one who does not sell: it shares no seats with anybody, and none of its news can be missed. */
const NO_SELLER = 0;
/** Until somebody looks at the sector for another reason. */
const FOR_LONG_MS = 365 * 24 * 3_600_000;

/** Seats that went another way than by a hold: blocked. */
export function tellGone(publisher: RedisConnection, gone: Readonly<Record<string, readonly string[]>>): void {
  const text = JSON.stringify({ from: newId(), number: NO_SELLER, until: Date.now() + FOR_LONG_MS, taken: gone });
  publisher.publish(CHANNEL, text).catch(() => undefined);
}

export interface SeatChangeListener {
  /** Another process holds these seats now. */
  taken(sectorId: string, seatIds: readonly string[], until: number): void;
  /** Seats of this sector are free again, before any hold in it has ended. */
  freed(sectorId: string): void;
  /** News were lost: whatever is known may be behind. */
  missedSome(): void;
}

/**
 * What the processes tell each other about seats they have just taken, so that none proposes what another has: without it,
 * each learned of each block the other sold by losing it. And in which sectors refunded seats are: no hold's end would tell.
 * Each also prefers rows of its own among those that sell at the moment. Who sells alone only says so now and then: naming
 * hundreds of seats a batch cost it a twelfth of its time. Only hints: a lost message costs a lost proposal, never a seat.
 */
export class SeatChangeBroadcast implements SeatsFreed {
  private readonly id = newId();
  private readonly listeners: SeatChangeListener[] = [];
  private readonly peers = new Map<string, { number: number; heardAt: number }>();
  private number = 0;
  private toldAt = 0;

  constructor(
    private readonly publisher: RedisConnection,
    private readonly subscriber: RedisConnection,
  ) {}

  listen(listener: SeatChangeListener): void {
    this.listeners.push(listener);
  }

  /** Not awaited: without Redis everybody sells on, and learns the hard way. */
  follow(): void {
    this.subscriber.on('message', (_channel: string, text: string) => this.hear(text));
    this.subscriber.on('ready', () => this.missed());
    this.subscriber.subscribe(CHANNEL).catch(() => undefined);
  }

  tell(taken: () => Readonly<Record<string, readonly string[]>>, until: number): void {
    this.number += 1;
    const now = Date.now();
    const isAlone = !this.share(now);
    if (isAlone && now - this.toldAt < ALONE_TELL_MS) return;
    this.toldAt = now;
    this.publish(isAlone ? { until } : { until, taken: taken() });
  }

  /** To whoever sells here, and in every other process. */
  tellFreed(sectorId: string): void {
    for (const listener of this.listeners) listener.freed(sectorId);
    this.number += 1;
    this.publish({ until: 0, taken: {}, freed: [sectorId] });
  }

  /** Which part of the seats this process had better look at first; all of them when it sells alone. */
  share(now = Date.now()): Share | undefined {
    let [index, of] = [0, 1];
    for (const [id, { heardAt }] of this.peers) {
      if (now - heardAt > FORGET_PEER_MS) this.peers.delete(id);
      if (now - heardAt > QUIET_MS) continue;
      of += 1;
      if (id < this.id) index += 1;
    }
    return of > 1 ? { index, of } : undefined;
  }

  async close(): Promise<void> {
    await closeRedis(this.subscriber);
  }

  private publish(news: { until: number; taken?: Readonly<Record<string, readonly string[]>>; freed?: readonly string[] }): void {
    const text = JSON.stringify({ from: this.id, number: this.number, ...news });
    this.publisher.publish(CHANNEL, text).catch(() => undefined);
  }

  private hear(text: string): void {
    // Our own come back, too, and need not be read.
    if (text.startsWith(`{"from":"${this.id}"`)) return;
    const news = parsed(text);
    if (!news) return;
    if (news.number !== NO_SELLER) this.meet(news);
    for (const [sectorId, seatIds] of Object.entries(news.taken ?? {}))
      for (const listener of this.listeners) listener.taken(sectorId, seatIds, news.until);
    for (const sectorId of news.freed) for (const listener of this.listeners) listener.freed(sectorId);
  }

  private meet({ from, number, taken }: News): void {
    const known = this.peers.get(from);
    this.peers.set(from, { number, heardAt: Date.now() });
    if (!taken || number !== (known?.number ?? 0) + 1) this.missed();
  }

  private missed(): void {
    for (const listener of this.listeners) listener.missedSome();
  }
}

function parsed(text: string): News | undefined {
  try {
    return message.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
