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
}

/** Creates quotas without HTTP and without an operator. The CLI's demo data uses it. */
export abstract class QuotaApi {
  /** Returns the id of the quota. */
  abstract create(quota: NewQuota): Promise<string>;
}
