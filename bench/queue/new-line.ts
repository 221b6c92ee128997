import type { Core } from './joins.ts';

/** What the monolith sends before its first call for a new match: nobody has had a turn yet. */
export async function restoreEmpty(lines: Core['lines'], matchId: string): Promise<void> {
  await lines.restore(matchId, { exists: true, generation: 1, part: 0, isLast: true, windows: [], used: [] });
}
