import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import type { Reservation } from '../application/ports.ts';
import type { HeldPlace, InvitedPlace, InvitedPlacesToHold } from '../quota-places/claim-places.sql.ts';
import type { InvitedPlaces } from '../quota-places/invited-places.ts';
import { asReservation } from './memory-reservations.ts';
import { isHeld, tables } from './memory-tables.ts';

/** Does the same as the statements of claim-places.sql.ts on the simulated database. */
export class MemoryInvitedPlaces implements InvitedPlaces {
  constructor(
    private readonly db: SimulatedDatabase,
    private readonly holdMs: number,
  ) {}

  async lock(
    tx: Transaction,
    { invitationId, seatIds }: { readonly invitationId: string; readonly seatIds: readonly string[] },
  ): Promise<readonly InvitedPlace[]> {
    const open = inside(tx);
    const places: InvitedPlace[] = [];
    for (const seatId of seatIds.toSorted()) {
      await open.statement(`locks place ${seatId} of ${invitationId}`);
      const seat = open.get(tables.seats, seatId) && (await open.lock(tables.seats, seatId));
      if (!seat) continue;
      const isTaken = seat.status === 'sold' || isHeld(seat, open.now.getTime());
      const { rowIndex, number } = seat;
      const isBound = seat.boundTo === invitationId;
      places.push({ seatId, rowIndex, number, isBound, reservationId: isTaken ? seat.reservationId : null });
    }
    return places;
  }

  async hold(tx: Transaction, { until, ...facts }: InvitedPlacesToHold): Promise<readonly HeldPlace[]> {
    const open = inside(tx);
    await open.statement(`holds the places of ${facts.invitationId}`);
    const expiresAtMs = Math.min(open.now.getTime() + this.holdMs, until.getTime());
    if (expiresAtMs <= open.now.getTime()) return [];
    const { id, seatIds } = facts;
    const more = {
      sessionToken: null,
      status: 'held',
      heldAtMs: open.now.getTime(),
      countedAtMs: open.now.getTime(),
      swept: false,
      heldWithKey: null,
    } as const;
    await open.put(tables.reservations, id, { ...facts, ...more, expiresAtMs });
    const held: HeldPlace[] = [];
    for (const seatId of seatIds) {
      await open.change(tables.seats, seatId, { status: 'held', reservationId: id, expiresAtMs });
      const { row = null, number = null } = open.get(tables.seats, seatId) ?? {};
      held.push({ seatId, row, number, expiresAt: new Date(expiresAtMs) });
    }
    this.db.scheduler.registerExpiry(expiresAtMs);
    return held;
  }

  async reservation(tx: Transaction, id: string): Promise<Reservation | undefined> {
    const open = inside(tx);
    await open.statement(`reads reservation ${id}`);
    const row = open.get(tables.reservations, id);
    return row && asReservation(row, this.db, open.now);
  }

  async hasSold(tx: Transaction, { id, seats }: Reservation): Promise<boolean> {
    const open = inside(tx);
    await open.statement(`reads the sold places of ${id}`);
    return seats.some(({ seatId }) => {
      const seat = open.get(tables.seats, seatId);
      return seat?.reservationId === id && seat.status === 'sold';
    });
  }
}
