/** The greatest number of events within any period of one second. `times` are the times of the events in milliseconds. */
export function maxInOneSecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  for (let from = 0, to = 0; to < sorted.length; to += 1) {
    while ((sorted[to] ?? 0) - (sorted[from] ?? 0) >= 1000) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
