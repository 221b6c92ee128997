import { requestedSeats } from '../application/ports.ts';
import type { PendingHold } from './pending-holds.ts';
import type { SectorSnapshot } from './sector-snapshot.ts';

/**
 * Refreshes the snapshots of a batch before seats are proposed. Waits for those that have too few free seats or may be wrong, because
 * no request may be refused from memory alone. Other stale snapshots are refreshed beside the batch: it need not wait for seats that
 * only add to the free ones.
 */
export async function refreshSnapshots(holds: readonly PendingHold[]): Promise<void> {
  const now = Date.now();
  const needed = new Set<SectorSnapshot>();
  const stale = new Set<SectorSnapshot>();
  for (const hold of holds) {
    const { snapshot } = hold;
    const hasTooFew = !hold.chosen && snapshot.map.freeCount < requestedSeats(hold.request) && !hold.isRefreshed;
    const isStale = snapshot.isStale(now);
    const isWrong = hold.mustRefresh || (isStale && (snapshot.isDoubtful || hold.attempts > 1));
    if (isStale) stale.add(snapshot);
    if (!hasTooFew && !isWrong) continue;
    hold.isRefreshed = true;
    hold.mustRefresh = false;
    needed.add(snapshot);
  }
  for (const snapshot of stale) if (!needed.has(snapshot)) snapshot.refreshBeside();
  await Promise.all([...needed].map((snapshot) => snapshot.refresh().catch(() => undefined)));
}
