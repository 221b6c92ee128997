/**
 * Rounds a position up to a multiple of the step width: 1 below 1,000, 100 below 10,000, then 1,000. When this value changes, the
 * fan gets a message before the next regular one. The steps only decide when to send; a position that is sent is exact.
 */
export function positionStep(position: number): number {
  if (position < 1000) return position;
  const width = position < 10_000 ? 100 : 1000;
  return Math.ceil(position / width) * width;
}
