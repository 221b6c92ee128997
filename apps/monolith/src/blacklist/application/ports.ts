import type { Transaction } from '#application/transaction-manager';

/** A fan on the blacklist, with the reason, the end and the operator. */
export interface BlacklistEntry {
  readonly id: string;
  readonly userId: string;
  readonly reason: string;
  readonly until: Date | null;
  readonly listedBy: string;
  readonly listedAt: Date;
}

/** A row of the history: an operator put a fan on the blacklist (`list`) or took the fan off (`lift`). */
export interface BlacklistChange {
  readonly action: 'list' | 'lift';
  readonly reason: string | null;
  readonly until: Date | null;
  readonly by: string;
  readonly at: Date;
}

/** The blacklist and its history. An entry counts until its `until` has passed. */
export abstract class Blacklist {
  /** Blocks other writers of the blacklist until the transaction ends. Returns the database's current time. */
  abstract lock(tx: Transaction): Promise<Date>;
  /** Adds the entry, or replaces the fan's entry. Returns false if the fan was on the blacklist already. */
  abstract put(tx: Transaction, listing: BlacklistEntry): Promise<boolean>;
  /** Removes the fan's entry. Returns false if the fan was not on the blacklist. */
  abstract lift(tx: Transaction, change: { userId: string; by: string; at: Date }): Promise<boolean>;
  abstract find(userId: string): Promise<{ listing: BlacklistEntry | undefined; changes: readonly BlacklistChange[] }>;
  /** One page of the entries that have not expired, newest first. */
  abstract list(page: { before: string | undefined; limit: number }): Promise<readonly BlacklistEntry[]>;
}

/** Copies of the blacklist for fast reads: one in the memory of each process, one in Redis for the waiting room. */
export abstract class BlacklistCopies {
  /**
   * After a change: updates this process's copy and the Redis copy, then tells the other processes to refresh theirs. Never
   * throws: a process that did not receive the message refreshes its copy within a second anyway.
   */
  abstract updateAll(): Promise<void>;
  /** Reads the blacklist from the database into this process's memory, if the blacklist has changed. */
  abstract refreshMemory(): Promise<void>;
  /** Writes this process's copy to Redis, if Redis has another revision. Returns true if it wrote. */
  abstract refreshRedis(): Promise<boolean>;
}
