import type { Quota } from '#contracts/quotas';

/** A quota with the quotas below it. */
export interface QuotaNode {
  readonly quota: Quota;
  /** 1 for a quota without a parent. */
  readonly depth: number;
  readonly parts: readonly QuotaNode[];
}

/** The deepest quota that the API allows. */
const MAX_DEPTH = 4;

/** The tree of a flat list. A quota whose parent is not in the list stands at the top. */
export function quotaTree(quotas: readonly Quota[]): readonly QuotaNode[] {
  const known = new Set(quotas.map(({ id }) => id));
  const partsOf = new Map<string | null, Quota[]>();
  for (const quota of quotas) {
    const parent = quota.parent_id !== null && known.has(quota.parent_id) ? quota.parent_id : null;
    partsOf.set(parent, [...(partsOf.get(parent) ?? []), quota]);
  }
  const nodesBelow = (parent: string | null, depth: number): QuotaNode[] =>
    (partsOf.get(parent) ?? []).map((quota) => ({ quota, depth, parts: nodesBelow(quota.id, depth + 1) }));
  return nodesBelow(null, 1);
}

/** The quotas that a new quota can be created below: open ones that are not at the deepest level. */
export function possibleParents(nodes: readonly QuotaNode[]): readonly Quota[] {
  return nodes.flatMap(({ quota, depth, parts }) => [
    ...(quota.status === 'open' && depth < MAX_DEPTH ? [quota] : []),
    ...possibleParents(parts),
  ]);
}
