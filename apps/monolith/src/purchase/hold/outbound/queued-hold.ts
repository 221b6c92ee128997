import { newId } from '#platform/ids';
import { requestContext, type IdempotencyKey } from '#platform/logging/request-context';
import type { Reservation } from '../../application/ports.ts';
import { wantedSeats, type HoldOutcome, type HoldRequest } from '../application/ports.ts';
import type { HoldRow } from './hold-statement.ts';
import { NEWCOMER, type FanSeats } from './postgres-fan-seats.ts';
import type { SectorSnapshot } from './sector-snapshot.ts';

/** A wish that waits for its batch, and what is known about it from one attempt to the next. */
export interface QueuedHold {
  readonly wish: HoldRequest;
  readonly picture: SectorSnapshot;
  readonly fence: IdempotencyKey | undefined;
  readonly deadlineAt: number;
  readonly reservationId: string;
  readonly resolve: (outcome: HoldOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** The seats it named. */
  readonly named: readonly number[] | undefined;
  /** Seats proposed for it in the batch under way. */
  seats: readonly number[];
  /** Of the seats it named: those that somebody else in the same batch was first to name. */
  rivals: readonly number[];
  together: boolean;
  proposals: number;
  /** When its fan was first found to be busy. */
  busySince: number | undefined;
  looked: boolean;
  /** A seat proposed for it was not where memory had it. */
  mustRefresh: boolean;
  /** Taken for a newcomer until it matters. */
  fan: FanSeats;
}

const NONE: readonly number[] = [];

export function queuedHold(
  wish: HoldRequest,
  picture: SectorSnapshot,
  settle: Pick<QueuedHold, 'resolve' | 'reject'>,
): QueuedHold {
  const context = requestContext.current();
  return {
    wish,
    picture,
    fence: context?.fence,
    deadlineAt: context?.deadlineAt ?? Number.POSITIVE_INFINITY,
    reservationId: newId(),
    ...settle,
    named: 'seatIds' in wish ? picture.seatIndexesOf(wish.seatIds) : undefined,
    seats: NONE,
    rivals: NONE,
    together: true,
    proposals: 0,
    busySince: undefined,
    looked: false,
    mustRefresh: false,
    fan: NEWCOMER,
  };
}

/** Fan and turn were asked for: not at the first attempt, unless no seat is proposed and only the answer is left to find. */
export function isKnownByNow({ proposals, seats }: QueuedHold): boolean {
  return proposals > 1 || seats.length === 0;
}

/** As the statement takes it. */
export function holdRow(one: QueuedHold): HoldRow {
  const { wish, picture, fence } = one;
  return {
    reservationId: one.reservationId,
    sector: wish.sector,
    userId: wish.userId,
    sessionToken: wish.sessionToken ?? null,
    seats: one.seats,
    seatRows: picture,
    quantity: wantedSeats(wish),
    together: one.together,
    fan: one.fan,
    key: fence?.render ? fence : null,
  };
}

/** What its fan has when the statement has taken the seats. */
export function wonReservation(one: QueuedHold, expiresAt: Date): Reservation {
  const { wish, picture } = one;
  const { sector } = wish;
  const seats = one.seats.map((place) => {
    const { seatId, row, number } = picture.factsOf(place);
    return { seatId, sector: sector.name, row, number, priceCents: sector.priceCents };
  });
  return {
    id: one.reservationId,
    matchId: wish.matchId,
    sectorId: sector.id,
    userId: wish.userId,
    sessionToken: wish.sessionToken ?? null,
    status: 'held',
    together: one.together,
    seats,
    totalCents: sector.priceCents * seats.length,
    currency: sector.currency,
    expiresAt,
  };
}
