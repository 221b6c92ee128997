import type { Transaction } from '#application/transaction-manager';
import { ListedFans } from '#domain/blacklist/listed-fans';
import type { Logger } from '#platform/logging/logger';
import type { BlacklistBroadcast } from '../application/ports.ts';
import { BlacklistApi } from '../blacklist.api.ts';
import type { PostgresBlacklist, WholeBlacklist } from './postgres-blacklist.ts';
import type { RedisBlacklist } from './redis-blacklist.ts';

/**
 * The list as this process knows it. A hold asks memory: asking the database would cost each of thousands a look at a table
 * that has nothing to say to nearly all of them. Memory is a moment behind what others decided, at most a second; what it lets
 * through is refused at the checkout, which asks the database.
 */
export class KnownBlacklist extends BlacklistApi implements BlacklistBroadcast {
  private readonly fans = new ListedFans();
  private known: WholeBlacklist | undefined;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: PostgresBlacklist,
    private readonly mirror: RedisBlacklist,
    private readonly logger: Logger,
  ) {
    super();
  }

  has(userId: string): boolean {
    return this.fans.has(userId, performance.now());
  }

  listed(tx: Transaction, userIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.store.listed(tx, userIds);
  }

  async tell(): Promise<void> {
    try {
      await this.look();
      await this.reflect();
    } catch (error) {
      this.logger.warn({ err: error }, 'not everybody was told of the blacklist; they look within a second');
    }
    await this.mirror.hint().catch(() => undefined);
  }

  /** Brings memory up to date; one look after the other, so that an older one never comes last. */
  look(): Promise<void> {
    const look = this.looking.then(() => this.lookOnce());
    this.looking = look.catch(() => undefined);
    return look;
  }

  /** Brings the waiting room's copy up to date: after a change, and after Redis has lost it. True when it was behind. */
  async reflect(): Promise<boolean> {
    if (!this.known || (await this.mirror.revision()) === this.known.revision) return false;
    await this.mirror.write(this.known);
    return true;
  }

  private async lookOnce(): Promise<void> {
    if (this.known && (await this.store.revision()) === this.known.revision) return;
    const startedAt = performance.now();
    this.known = await this.store.all();
    // Counted from before the answer: an entry may be over some milliseconds early, never late.
    this.fans.replace(this.known.fans, startedAt);
  }
}
