/**
 * The server sets the ends of windows and holds. A phone's clock may be minutes wrong, so countdowns use the server's clock,
 * measured with the Date header. That header has whole seconds, so half a second is added to be right on average. Differences
 * under two seconds are ignored: they come from this rounding and from the network.
 */
let offsetMs = 0;

export function measureServerClock(response: Response, sentAt: number): void {
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(serverTime)) return;
  const midpoint = (sentAt + Date.now()) / 2;
  const measuredOffsetMs = serverTime + 500 - midpoint;
  offsetMs = Math.abs(measuredOffsetMs) < 2000 ? 0 : measuredOffsetMs;
}

export function serverNow(): number {
  return Date.now() + offsetMs;
}
