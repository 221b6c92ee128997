import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useTribina } from '../api/tribina-context.ts';
import type { RoomState } from './room-state.ts';
import { WaitingRoom } from './waiting-room.ts';

/** The waiting room of this match for as long as the component lives; `enabled` is false for a match without a line. */
export function useWaitingRoom(matchId: string, enabled: boolean): { state: RoomState; room: WaitingRoom } {
  const { tribina, memory } = useTribina();
  const room = useMemo(() => new WaitingRoom(matchId, tribina, memory), [matchId, tribina, memory]);
  const state = useSyncExternalStore(room.watch, room.snapshot);

  useEffect(() => {
    if (!enabled) return;
    const stop = new AbortController();
    void room.look(stop.signal);
    return () => {
      stop.abort();
      room.disconnect();
    };
  }, [enabled, room]);

  return { state, room };
}
