import type { Transaction } from '#application/transaction-manager';
import type { Locale } from '../fans.api.ts';

export interface Profile {
  readonly email: string | null;
  readonly name: string | null;
  readonly locale: Locale;
}

/** Who has told us nothing: on the phone of a fan in Croatia. */
export const unknownFan: Profile = { email: null, name: null, locale: 'hr' };

export abstract class Fans {
  abstract find(userId: string): Promise<Profile | undefined>;
  abstract save(tx: Transaction, userId: string, profile: Profile): Promise<void>;
}

export interface Device {
  readonly userId: string;
  readonly deviceId: string;
  readonly fcmToken: string;
}

export abstract class Devices {
  /** Adds or renews it, and takes its token away from whoever had it. */
  abstract put(tx: Transaction, device: Device): Promise<void>;
  abstract keepNewest(tx: Transaction, userId: string, count: number): Promise<void>;
  abstract remove(tx: Transaction, device: { userId: string; deviceId: string }): Promise<void>;
}
