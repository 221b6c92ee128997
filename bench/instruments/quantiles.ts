/** The value below which `share` of the values lie, such as 0.99. The values must be in ascending order; NaN if there are no values. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The value below which 99 % of the values lie. The values must be in ascending order. */
export const p99 = (sorted: ArrayLike<number>): number => quantile(sorted, 0.99);

/** The median of the values in any order, without NaN values. */
export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (quantile(sorted, 0.5) + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The arithmetic mean of the values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
