import type { CallerIdentity } from '#platform/http/caller';

/** The member whose quotas the caller may use; undefined for an operator, who may use all. */
export function memberOf({ userId, roles }: CallerIdentity): string | undefined {
  return roles.includes('ops') ? undefined : userId;
}
