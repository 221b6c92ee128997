import { useEffect, useState } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { Sector } from '../api/types.ts';
import { afterMessage, type Availability, readAvailability } from './availability.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** Without the live stream we ask this often. */
const pollMs = 10_000;

/** The sectors of a match with numbers that stay true: from the availability stream, or by asking when there is none. */
export function useSectors(matchId: string): Loaded<Sector[]> {
  const { tribina } = useTribina();
  const [hasStream, setHasStream] = useState(false);
  const [live, setLive] = useState<Availability>(new Map());
  const loaded = useLoaded((signal) => tribina.sectors(matchId, signal), matchId, hasStream ? undefined : pollMs);

  useEffect(() => {
    const stream = new EventSource(tribina.availabilityUrl(matchId));
    stream.onmessage = (event) => {
      const message = readAvailability(String(event.data));
      if (!message) return;
      setHasStream(true);
      setLive((before) => afterMessage(before, message));
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
