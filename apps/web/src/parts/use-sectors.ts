import { useEffect, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { AvailabilityMessage, Sector } from '../api/types.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** Without the live stream we ask this often. */
const pollMs = 10_000;

/** The sectors of a match with numbers that stay true: from the availability stream, or by asking when there is none. */
export function useSectors(matchId: string): Loaded<Sector[]> {
  const { tribina } = useTribina();
  const [hasStream, setHasStream] = useState(false);
  const [live, setLive] = useState<ReadonlyMap<string, number>>(new Map());
  const loaded = useLoaded((signal) => tribina.sectors(matchId, signal), matchId, hasStream ? undefined : pollMs);

  useEffect(() => {
    const stream = new EventSource(tribina.availabilityUrl(matchId));
    stream.onmessage = (event) => {
      const message = readAvailability(String(event.data));
      if (!message) return;
      setHasStream(true);
      setLive((before) => {
        const next = new Map(message.type === 'snapshot' ? [] : before);
        for (const sector of message.sectors) next.set(sector.id, sector.available);
        return next;
      });
    };
    stream.onerror = () => {
      // The browser comes back by itself unless the server refused; meanwhile old numbers must not hide fresh ones.
      setHasStream(false);
      setLive(new Map());
    };
    return () => stream.close();
  }, [matchId, tribina]);

  const value = loaded.value?.items.map((sector) => ({ ...sector, available: live.get(sector.id) ?? sector.available }));
  return { ...loaded, value };
}

function readAvailability(text: string): AvailabilityMessage | undefined {
  try {
    const message = JSON.parse(text) as Partial<AvailabilityMessage>;
    const known = message.type === 'snapshot' || message.type === 'diff';
    return known && Array.isArray(message.sectors) ? (message as AvailabilityMessage) : undefined;
  } catch {
    return undefined;
  }
}
