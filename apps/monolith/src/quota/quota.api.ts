import type { QuotaKind } from '#contracts/quota-kinds';
import type { RequestedPlaces } from '#contracts/quotas';

/** A quota to create with ordinary settings. */
export interface NewQuota {
  readonly matchId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: QuotaKind;
  readonly places: RequestedPlaces;
  readonly members?: readonly string[];
  readonly returnAt?: Date;
  readonly onReturn?: 'public' | 'parent' | 'keep';
  readonly neverTo?: readonly QuotaKind[];
  /** Sector id → price of a place. A missing sector has its ordinary price. */
  readonly priceCents?: Readonly<Record<string, number>>;
}

/** A person to invite to places of a quota. The mail is in the language of `locale`. */
export interface Guest {
  readonly email: string;
  readonly name: string;
  readonly locale: 'hr' | 'en';
  readonly quantity: number;
}

/** Creates quotas and invites people without HTTP and without an operator. The CLI's demo data uses it. */
export abstract class QuotaApi {
  /** Returns the id of the quota. */
  abstract create(quota: NewQuota): Promise<string>;

  /** Invites these people and sends their mails. A list key invites no address twice. Throws if somebody cannot be invited. */
  abstract invite(quotaId: string, listKey: string, guests: readonly Guest[]): Promise<void>;
}
