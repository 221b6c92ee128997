import type { Transaction } from '#application/transaction-manager';

/** The languages of mails and pushes: Croatian and English. */
export type Locale = 'hr' | 'en';

/** How to reach a fan: language, e-mail address and the devices registered for pushes. */
export interface FanContact {
  readonly userId: string;
  readonly locale: Locale;
  /** The address in the profile; null if the profile has none. */
  readonly email?: string | null;
  /** Tokens of the fan's devices. Empty with PUSH_PROVIDER=none, so that nobody makes a push. */
  readonly fcmTokens: readonly string[];
}

/** Tells other contexts how to reach fans. */
export abstract class FansApi {
  /** Returns a contact for every given fan. A fan without a profile gets Croatian, no address and no device. */
  abstract contacts(tx: Transaction, userIds: readonly string[]): Promise<ReadonlyMap<string, FanContact>>;
  /** The address and the name in the fan's profile. Nobody has checked the address. */
  abstract find(userId: string): Promise<{ readonly email: string | null; readonly name: string | null }>;
  /**
   * The address of which the fan is known to be the owner; null if none is. With AUTH_MODE=jwt it is the one that the identity provider has
   * verified: anybody can write any address into a profile, and would get what was sent to others. With AUTH_MODE=mock, where nothing is
   * verified, it is the address in the profile.
   */
  abstract ownAddress(fan: { readonly userId: string; readonly verifiedEmail?: string }): Promise<string | null>;
  /** Whether the fan has stored a profile or a device. */
  abstract isKnown(tx: Transaction, userId: string): Promise<boolean>;
}

/** Push tokens of devices, by the language of their fans. */
export type DevicesByLocale = Readonly<Record<Locale, readonly string[]>>;

/** One push to the devices of many fans. */
export interface NewBroadcast {
  readonly template: 'match_reminder' | 'match_changed';
  /** The event that causes the broadcast, for operators and metrics. */
  readonly event: string;
  readonly devices: DevicesByLocale;
  readonly texts: Readonly<Record<Locale, { readonly title: string; readonly body: string }>>;
  readonly data: Readonly<Record<string, string>>;
  /** The push is dropped after this time. */
  readonly usefulUntil?: Date;
}

/** A stored broadcast: how many devices it has, and how many push jobs send it. */
export interface CreatedBroadcast {
  readonly id: string;
  readonly devices: number;
  readonly jobs: number;
}

/** One device of a broadcast. `ordinal` numbers the devices of the broadcast; each push job covers a range of these numbers. */
export interface BroadcastDevice {
  readonly broadcastId: string;
  readonly ordinal: number;
}

/** Creates broadcasts: one message to the devices of many fans. */
export abstract class FanBroadcasts {
  /**
   * Reads the devices of these fans; none with PUSH_PROVIDER=none. Call it before the transaction: at SERIALIZABLE, reading 100,000 rows would need more
   * predicate locks than PostgreSQL has.
   */
  abstract devicesOf(userIds: readonly string[]): Promise<DevicesByLocale>;
  /**
   * Stores the broadcast and its push jobs in the transaction. Without devices nothing is stored. The worker's metrics show its
   * progress.
   */
  abstract create(tx: Transaction, broadcast: NewBroadcast): Promise<CreatedBroadcast>;
  /** The fan's devices in broadcasts of the last 30 days. Operators find the push jobs of a fan with them. */
  abstract devicesIn(userId: string): Promise<readonly BroadcastDevice[]>;
}

/** A fan who has waited for so long to be erased that the retention job cannot be running; for the operators. */
export interface LateErasure {
  readonly about: string;
  readonly text: string;
  readonly subject: string;
}

/** Finds late erasures. Each is told once, by its subject. */
export abstract class LateErasures {
  abstract find(): Promise<LateErasure[]>;
}
