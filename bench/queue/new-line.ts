import type { WaitingRoomLines } from './joins.ts';

/** Tells the waiting room that a new match has no turns yet (a restore), as the monolith does before its first call for a match. */
export async function restoreEmpty(lines: WaitingRoomLines['lines'], matchId: string): Promise<void> {
  await lines.restore(matchId, { exists: true, generation: 1, part: 0, complete: true, windows: [], used: [] });
}
