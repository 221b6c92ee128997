import type { Transaction } from '#application/transaction-manager';
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

/** A match with its new kick-off. */
export interface MovedKickoff {
  readonly matchId: string;
  readonly kickoffAt: Date;
}

/**
 * What other contexts do with quotas. `create` and `invite` work without HTTP and without an operator: the CLI's demo data uses them.
 */
export abstract class QuotaApi {
  /** Returns the id of the quota. */
  abstract create(quota: NewQuota): Promise<string>;

  /** Invites these people and sends their mails. A list key invites no address twice. Throws if somebody cannot be invited. */
  abstract invite(quotaId: string, listKey: string, guests: readonly Guest[]): Promise<void>;

  /** Call this in the transaction that moves the kick-off of a match: no deadline of its quotas is later than the new one. */
  abstract followKickoff(tx: Transaction, moved: MovedKickoff): Promise<void>;
}
