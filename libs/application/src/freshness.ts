/**
 * What a read outside of a transaction must see (docs/concepts/database-replica.md).
 * - `current`: everything that was committed before the read.
 * - `recent`: everything that was committed more than five seconds before the read.
 */
export type Freshness = 'current' | 'recent';
