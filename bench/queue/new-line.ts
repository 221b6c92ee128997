import type { Core } from './joins.ts';

/** Restores a new match without turns, as the monolith does before its first call for a match. */
export async function restoreEmpty(lines: Core['lines'], matchId: string): Promise<void> {
  await lines.restore(matchId, { exists: true, generation: 1, part: 0, isLast: true, windows: [], used: [] });
}
