import type { Transaction } from '#application/transaction-manager';

export type Locale = 'hr' | 'en';

/** How to reach a fan: language, and the devices that want pushes. */
export interface FanContact {
  readonly userId: string;
  readonly locale: Locale;
  /** Of the profile; null when they told none. */
  readonly email?: string | null;
  readonly fcmTokens: readonly string[];
}

export abstract class FansApi {
  /** Everybody asked for is answered; who is unknown to us speaks Croatian and has no device. */
  abstract contacts(tx: Transaction, userIds: readonly string[]): Promise<ReadonlyMap<string, FanContact>>;
}
