import type { QueueStatusAnswer } from '#contracts/waiting-room-control';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { MatchReport, PurchaseApi } from '../purchase/purchase.api.ts';
import type { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';

/** Reads the current sales figures of a match. */
export class ReadMatchReport {
  constructor(
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
    private readonly waitingRoom: WaitingRoomApi,
  ) {}

  /** `queue` is null if the match has no queue or the queue service does not answer. */
  async execute(matchId: string): Promise<{ seats: MatchReport; queue: QueueStatusAnswer | null }> {
    const match = await this.catalog.match(matchId);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const [seats, status] = await Promise.all([
      this.purchase.report(matchId),
      match.queueRequired ? this.waitingRoom.figures(matchId) : undefined,
    ]);
    return { seats, queue: status ?? null };
  }
}
