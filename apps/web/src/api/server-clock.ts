/**
 * The server sets the ends of windows and holds. A phone's clock may be minutes wrong, so countdowns use the server's clock,
 * measured with the Date header. That header has whole seconds, so half a second is added to be right on average. Offsets under
 * two seconds are ignored: they come from this rounding and from the network.
 */
let offsetMs = 0;

/** Measures the offset of the server's clock from the Date header of an answer. */
export function measureServerClock(response: Response, sentAt: number): void {
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(serverTime)) return;
  const midpoint = (sentAt + Date.now()) / 2;
  const measuredOffsetMs = serverTime + 500 - midpoint;
  offsetMs = Math.abs(measuredOffsetMs) < 2000 ? 0 : measuredOffsetMs;
}

/** The current time by the server's clock, in ms since 1970. */
export function serverNow(): number {
  return Date.now() + offsetMs;
}
