/**
 * A fan far back is not told every step: what matters at 40,000 is the thousand. Positions are exact whenever they are
 * sent; these steps only decide when a change is worth a message before the regular one.
 */
export function positionStep(position: number): number {
  if (position < 1000) return position;
  const width = position < 10_000 ? 100 : 1000;
  return Math.ceil(position / width) * width;
}

export function isSignificantMove(from: number, to: number): boolean {
  return positionStep(from) !== positionStep(to);
}
