import { useEffect, useState } from 'react';
import { serverNow } from '../api/server-clock.ts';

/** Milliseconds until `iso`, updated once a second and never negative. Undefined if `iso` is undefined. */
export function useTimeLeft(iso: string | undefined): number | undefined {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!iso) return;
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, [iso]);
  return iso ? Math.max(0, Date.parse(iso) - now) : undefined;
}
