import type { Transaction } from '#application/transaction-manager';
import type { Locale } from '../fans.api.ts';

/** What a fan has stored: e-mail address, name and language. */
export interface Profile {
  readonly email: string | null;
  readonly name: string | null;
  readonly locale: Locale;
}

/** The profile of a fan who has not stored one. The default language is Croatian. */
export const emptyProfile: Profile = { email: null, name: null, locale: 'hr' };

/** The stored profiles of fans. */
export abstract class Fans {
  abstract find(userId: string): Promise<Profile | undefined>;
  abstract save(tx: Transaction, userId: string, profile: Profile): Promise<void>;
}

/** A fan's device that gets pushes, with its token at Firebase (FCM). */
export interface Device {
  readonly userId: string;
  readonly deviceId: string;
  readonly fcmToken: string;
}

/** The devices that fans registered for pushes. */
export abstract class Devices {
  /** Adds or updates the device. If another device has the same token, that device is deleted. */
  abstract put(tx: Transaction, device: Device): Promise<void>;
  /** Deletes all devices of the fan except the `count` that registered last. */
  abstract keepNewest(tx: Transaction, userId: string, count: number): Promise<void>;
  abstract remove(tx: Transaction, device: { userId: string; deviceId: string }): Promise<void>;
}
