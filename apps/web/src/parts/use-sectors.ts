import type { Sector } from '#contracts/sectors';
import { useEffect, useState } from 'react';
import { useAppServices } from '../api/app-services.ts';
import { applyAvailabilityMessage, type Availability, readAvailability } from './availability.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** The polling interval while the availability stream is not connected. */
const pollMs = 10_000;

/**
 * The sectors of a match with their current numbers of available seats, from the availability stream, or by polling while the
 * stream is down.
 */
export function useSectors(matchId: string): Loaded<Sector[]> {
  const { api } = useAppServices();
  const [hasStream, setHasStream] = useState(false);
  const [live, setLive] = useState<Availability>(new Map());
  const loaded = useLoaded((signal) => api.sectors(matchId, signal), matchId, hasStream ? undefined : pollMs);

  useEffect(() => {
    const stream = new EventSource(api.availabilityUrl(matchId));
    stream.onmessage = (event) => {
      const message = readAvailability(String(event.data));
      if (!message) return;
      setHasStream(true);
      setLive((before) => applyAvailabilityMessage(before, message));
    };
    stream.onerror = () => {
      // The browser reconnects by itself unless the server refused. Until the stream is back, its old numbers must not hide the
      // polled numbers.
      setHasStream(false);
      setLive(new Map());
    };
    return () => stream.close();
  }, [matchId, api]);

  const value = loaded.value?.items.map((sector) => ({ ...sector, available: live.get(sector.id) ?? sector.available }));
  return { ...loaded, value };
}
