import { NO_UNPAID_HOLDS, type UnpaidHolds } from '#domain/purchase/hold-cooldown';
import { newId } from '#platform/ids';
import type { Reservation } from '../../application/ports.ts';
import type { HoldOutcome, HoldRequest } from '../application/ports.ts';
import { FAN_WITHOUT_SEATS, type FanSeats } from './fan-seats.sql.ts';
import type { SectorSnapshot } from './sector-snapshot.ts';

/** Maximum number of requests in a batch. A larger batch would lose more time than it saves by fewer commits. */
const MAX_BATCH = 256;
/** While another batch is being committed, fewer waiting requests than this are not worth a commit of their own. */
const MIN_BATCH_BESIDE_ANOTHER = 128;
/** A commit takes milliseconds. A batch that takes longer than this counts as hanging, and the next batch may have any size. */
const HANGING_BATCH_MS = 50;

/** A request in the hold queue, with the state that is kept from one attempt to the next. */
export interface PendingHold {
  readonly request: HoldRequest;
  readonly snapshot: SectorSnapshot;
  readonly reservationId: string;
  readonly resolve: (outcome: HoldOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** Indices of the seats that the fan chose. Undefined when the fan asked for the best seats. */
  readonly chosen: readonly number[] | undefined;
  /** Indices of the seats proposed in the current batch. */
  proposed: readonly number[];
  /** Those of the chosen seats that are already proposed for another request of the same batch. */
  contested: readonly number[];
  together: boolean;
  attempts: number;
  /** When the fan's row was first found locked. */
  fanBusySince: number | undefined;
  /** Whether the snapshot has been refreshed because it had too few free seats for this request. */
  isRefreshed: boolean;
  /** True if the row of a proposed seat had another ctid than in the snapshot: refresh the snapshot before the next attempt. */
  mustRefresh: boolean;
  /** The counted seats of the fan. Until they are counted, the fan is assumed to have none. */
  fan: FanSeats;
  /** What the fan's unpaid holds mean for this request. They are read with the fan's seats. */
  unpaid: UnpaidHolds;
}

const NO_SEATS: readonly number[] = [];

/** A new request for the hold queue, before its first attempt. */
export function pendingHold(
  request: HoldRequest,
  snapshot: SectorSnapshot,
  answer: Pick<PendingHold, 'resolve' | 'reject'>,
): PendingHold {
  return {
    request,
    snapshot,
    reservationId: newId(),
    ...answer,
    chosen: 'seatIds' in request ? snapshot.indicesOf(request.seatIds) : undefined,
    proposed: NO_SEATS,
    contested: NO_SEATS,
    together: true,
    attempts: 0,
    fanBusySince: undefined,
    isRefreshed: false,
    mustRefresh: false,
    fan: FAN_WITHOUT_SEATS,
    unpaid: NO_UNPAID_HOLDS,
  };
}

/**
 * True if the fan's seats are counted and the turn is looked up for the current attempt. The first attempt does neither, unless no
 * seat could be proposed: then the request will be refused, and the reason is needed.
 */
export function isFanCounted({ attempts, proposed }: PendingHold): boolean {
  return attempts > 1 || proposed.length === 0;
}

/** True if the fan was in cooldown when the fan's seats were counted, on the database's clock. */
export function isInCooldown({ fan, unpaid }: Pick<PendingHold, 'fan' | 'unpaid'>): boolean {
  return unpaid.cooldownEndsAtMs !== undefined && unpaid.cooldownEndsAtMs > fan.asOfMs;
}

/** The reservation that HOLD_BATCH has committed for this request. */
export function reservationOf(hold: PendingHold, expiresAt: Date): Reservation {
  const { request, snapshot } = hold;
  const { sector } = request;
  const seats = hold.proposed.map((seatIndex) => {
    const { seatId, row, number } = snapshot.seatAt(seatIndex);
    return { seatId, sector: sector.name, row, number, priceCents: sector.priceCents };
  });
  return {
    id: hold.reservationId,
    matchId: request.matchId,
    sectorId: sector.id,
    userId: request.userId,
    sessionToken: request.sessionToken ?? null,
    invitationId: null,
    status: 'held',
    together: hold.together,
    seats,
    totalCents: sector.priceCents * seats.length,
    currency: sector.currency,
    expiresAt,
  };
}

/** The requests that wait for a batch, in the order of their arrival. Decides which of them make up the next batch. */
export class PendingHolds {
  private readonly waiting: PendingHold[] = [];
  /** The current batches, each with a set of its fans. One set for all batches would keep answered requests in memory (see SlotList). */
  private batches: { readonly batch: readonly PendingHold[]; readonly fans: ReadonlySet<string> }[] = [];
  private lastBatchAt = 0;

  get count(): number {
    return this.waiting.length;
  }

  /** True if a batch should start now. False if the waiting requests should rather share the batch after the current one. */
  get isBatchWorthwhile(): boolean {
    const isUrgent = this.batches.length === 0 || Date.now() - this.lastBatchAt > HANGING_BATCH_MS;
    return this.waiting.length >= (isUrgent ? 1 : MIN_BATCH_BESIDE_ANOTHER);
  }

  add(hold: PendingHold): void {
    this.waiting.push(hold);
  }

  /** Adds a request for another attempt, before requests that arrived later. */
  addFirst(hold: PendingHold): void {
    this.waiting.unshift(hold);
  }

  /**
   * Takes the requests of the next batch. A fan has at most one request in all current batches, so that the fan's seats are counted
   * correctly. A request for chosen seats that another batch has proposed must wait. Requests that must wait keep their order.
   */
  takeBatch(): readonly PendingHold[] {
    if (!this.isBatchWorthwhile) return [];
    const batch: PendingHold[] = [];
    const fans = new Set<string>();
    const postponed: PendingHold[] = [];
    let examined = 0;
    for (; examined < this.waiting.length && batch.length < MAX_BATCH; examined += 1) {
      const hold = this.waiting[examined]!;
      const { userId } = hold.request;
      const isFanInBatch = fans.has(userId) || this.batches.some((other) => other.fans.has(userId));
      const mustWait = isFanInBatch || (hold.chosen && hold.snapshot.beingDecided(hold.chosen).length > 0);
      (mustWait ? postponed : batch).push(hold);
      if (!mustWait) fans.add(userId);
    }
    this.waiting.splice(0, examined, ...postponed);
    if (batch.length === 0) return batch;
    this.batches.push({ batch, fans });
    this.lastBatchAt = Date.now();
    return batch;
  }

  /** Call this when every request of the batch is answered or waits again. `batch` is the array that `takeBatch` returned. */
  batchDone(batch: readonly PendingHold[]): void {
    this.batches = this.batches.filter((current) => current.batch !== batch);
  }
}
