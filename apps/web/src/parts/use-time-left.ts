import { useEffect, useState } from 'react';
import { serverNow } from '../api/server-clock.ts';

/** Milliseconds left until `iso`, once a second, never below zero; undefined without a time. */
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
