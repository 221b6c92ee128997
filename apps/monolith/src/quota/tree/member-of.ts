import { hasAccess } from '#contracts/roles';
import type { CallerIdentity } from '#platform/http/caller';

/** The member whose quotas the caller may use; undefined for an operator of sales, who may use all. */
export function memberOf({ userId, roles }: CallerIdentity): string | undefined {
  return hasAccess(roles, 'ops:sale') ? undefined : userId;
}
