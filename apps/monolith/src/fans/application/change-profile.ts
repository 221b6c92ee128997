import type { TransactionManager } from '#application/transaction-manager';
import type { Fans, Profile } from './ports.ts';

/** Replaces the whole profile of a fan. */
export class ChangeProfile {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly fans: Fans,
  ) {}

  async execute({ userId, profile }: { userId: string; profile: Profile }): Promise<Profile> {
    return this.transactions.run(async (tx) => {
      await this.fans.save(tx, userId, profile);
      return profile;
    });
  }
}
