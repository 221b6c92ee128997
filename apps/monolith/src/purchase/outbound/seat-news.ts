import { newId } from '#platform/ids';
import { closeRedis, type RedisConnection } from '#platform/redis/redis-connection';
import type { Share } from '#domain/purchase/sector-map';
import { z } from 'zod';

const CHANNEL = 'seat_news';
/** Who has sold nothing for so long shares no seats with us. */
const QUIET_MS = 3000;
/** Its numbers are known for longer: who sells now and then must not look like one whose news were lost. */
const FORGET_PEER_MS = 3_600_000;

const message = z.object({
  from: z.string(),
  number: z.int(),
  /** When the first of them may be free again. */
  until: z.number(),
  taken: z.record(z.string(), z.array(z.string())),
});

/** The number of news of one who does not sell: it shares no seats with anybody, and none of its news can be missed. */
const NO_SELLER = 0;
/** Until somebody looks at the sector for another reason. */
const FOR_LONG_MS = 365 * 24 * 3_600_000;

/** Seats that went another way than by a hold: blocked. */
export function tellGone(publisher: RedisConnection, gone: Readonly<Record<string, readonly string[]>>): void {
  const text = JSON.stringify({ from: newId(), number: NO_SELLER, until: Date.now() + FOR_LONG_MS, taken: gone });
  publisher.publish(CHANNEL, text).catch(() => undefined);
}

export interface SeatNewsListener {
  /** Another process holds these seats now. */
  taken(sectorId: string, seatIds: readonly string[], until: number): void;
  /** News were lost: whatever is known may be behind. */
  missedSome(): void;
}

/**
 * What the processes tell each other about seats they have just taken, so that none proposes what another has: without it,
 * each learned of each block the other sold by losing it. Each also prefers rows of its own among those that sell at the
 * moment. Only hints: a lost message costs a lost proposal, never a seat.
 */
export class SeatNews {
  private readonly id = newId();
  private readonly listeners: SeatNewsListener[] = [];
  private readonly peers = new Map<string, { number: number; heardAt: number }>();
  private number = 0;

  constructor(
    private readonly publisher: RedisConnection,
    private readonly subscriber: RedisConnection,
  ) {}

  listen(listener: SeatNewsListener): void {
    this.listeners.push(listener);
  }

  /** Not awaited: without Redis everybody sells on, and learns the hard way. */
  follow(): void {
    this.subscriber.on('message', (_channel: string, text: string) => this.hear(text));
    this.subscriber.on('ready', () => this.missed());
    this.subscriber.subscribe(CHANNEL).catch(() => undefined);
  }

  tell(taken: Readonly<Record<string, readonly string[]>>, until: number): void {
    this.number += 1;
    const text = JSON.stringify({ from: this.id, number: this.number, until, taken });
    this.publisher.publish(CHANNEL, text).catch(() => undefined);
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

  private hear(text: string): void {
    const news = parsed(text);
    if (!news || news.from === this.id) return;
    if (news.number !== NO_SELLER) this.meet(news.from, news.number);
    for (const [sectorId, seatIds] of Object.entries(news.taken))
      for (const listener of this.listeners) listener.taken(sectorId, seatIds, news.until);
  }

  private meet(peer: string, number: number): void {
    const known = this.peers.get(peer);
    this.peers.set(peer, { number, heardAt: Date.now() });
    if (number !== (known?.number ?? 0) + 1) this.missed();
  }

  private missed(): void {
    for (const listener of this.listeners) listener.missedSome();
  }
}

function parsed(text: string): z.infer<typeof message> | undefined {
  try {
    return message.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
