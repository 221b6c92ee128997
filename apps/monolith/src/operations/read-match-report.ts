import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { MatchReport, PurchaseApi } from '../purchase/purchase.api.ts';
import type { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';

/** How many fans wait, and what became of the turns of a match. */
export interface QueueTotals {
  readonly waiting: number;
  readonly openWindows: number;
  readonly granted: number;
  readonly completed: number;
  readonly expired: number;
}

/** Reads the current sales figures of a match. */
export class ReadMatchReport {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
    private readonly waitingRoom: WaitingRoomApi,
  ) {}

  /** `queue` is null if the match has no queue or the queue service does not answer. */
  async execute(matchId: string): Promise<{ seats: MatchReport; queue: QueueTotals | null }> {
    const match = await this.catalog.match(matchId);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const [seats, status] = await Promise.all([
      this.purchase.report(matchId),
      match.queueRequired ? this.waitingRoom.figures(matchId) : undefined,
    ]);
    if (!status) return { seats, queue: null };
    const { total, open_windows = 0, granted = 0, completed = 0, expired = 0 } = status;
    return { seats, queue: { waiting: total, openWindows: open_windows, granted, completed, expired } };
  }
}
