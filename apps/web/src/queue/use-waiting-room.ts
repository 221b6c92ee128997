import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useAppServices } from '../api/app-services.ts';
import type { RoomState } from './room-state.ts';
import { WaitingRoom } from './waiting-room.ts';

/** Connects the component to the waiting room of a match until it unmounts. `enabled` is false for a match without a line. */
export function useWaitingRoom(matchId: string, enabled: boolean): { state: RoomState; room: WaitingRoom } {
  const { api, purchaseStore } = useAppServices();
  const room = useMemo(() => new WaitingRoom(matchId, api, purchaseStore), [matchId, api, purchaseStore]);
  const state = useSyncExternalStore(room.subscribe, room.snapshot);

  useEffect(() => {
    if (!enabled) return;
    const stop = new AbortController();
    void room.checkEntry(stop.signal);
    return () => {
      stop.abort();
      room.disconnect();
    };
  }, [enabled, room]);

  return { state, room };
}
