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

/** Tokens of the devices that are to hear something, by what their fans speak. */
export type DevicesByLocale = Readonly<Record<Locale, readonly string[]>>;

/** One notification for very many fans at once. */
export interface Announcement {
  readonly template: 'match_reminder' | 'match_changed';
  /** The event it stems from, for people and metrics. */
  readonly event: string;
  readonly devices: DevicesByLocale;
  readonly texts: Readonly<Record<Locale, { readonly title: string; readonly body: string }>>;
  readonly data: Readonly<Record<string, string>>;
  readonly usefulUntil?: Date;
}

export interface Announced {
  readonly id: string;
  readonly devices: number;
  readonly jobs: number;
}

/** One device of an announcement: jobs carry ranges of ordinals. */
export interface AnnouncedDevice {
  readonly broadcastId: string;
  readonly ordinal: number;
}

export abstract class Announcements {
  /** Asked before the transaction: at SERIALIZABLE a hundred thousand rows are more than PostgreSQL can watch. */
  abstract devicesOf(userIds: readonly string[]): Promise<DevicesByLocale>;
  /** In the transaction of what is announced. Who has no device hears nothing; how far it has come, the worker's metrics tell. */
  abstract announce(tx: Transaction, announcement: Announcement): Promise<Announced>;
  /** The fan's devices in the announcements of the last 30 days, for operators who look for what became of one. */
  abstract devicesIn(userId: string): Promise<readonly AnnouncedDevice[]>;
}
