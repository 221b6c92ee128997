/**
 * Ends of windows and holds are the server's times. A phone's clock may be minutes off, so countdowns run on the server's,
 * read from the Date header (whole seconds; half a second is added to be right on average). Differences under two seconds
 * are left alone: they are the header's own rounding and the network.
 */
let offsetMs = 0;

export function learnServerTime(response: Response, sentAt: number): void {
  const header = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(header)) return;
  const middle = (sentAt + Date.now()) / 2;
  const measured = header + 500 - middle;
  offsetMs = Math.abs(measured) < 2000 ? 0 : measured;
}

export function serverNow(): number {
  return Date.now() + offsetMs;
}
