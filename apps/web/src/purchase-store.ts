import type { CheckOutRequest, CheckedOut } from '#contracts/orders';
import type { Reservation } from '#contracts/reservations';
import { storage } from './storage.ts';

/** What the browser stores of a fan's purchase for one match, so that the purchase continues after a reload or a closed tab. */
export interface StoredPurchase {
  reservationId?: string;
  /** True if the reservation came from an invitation, to whose page the purchase leads back. */
  isInvited?: boolean;
  orderId?: string;
  /** How the order is paid. `confirmUrl` exists only for the sandbox, which simulates the payment provider. */
  payment?: { provider: string; confirmUrl?: string };
  /** Restores the fan's queue entry if the waiting room loses its data. */
  receipt?: string;
}

/** A turn that the browser has stored. */
export interface KnownTurn {
  sessionToken: string;
  expiresAt: string;
}

/** The part of a checkout answer that is stored. An order of 0 cents has no payment. */
export function toStoredPurchase({ order_id, payment }: Pick<CheckedOut, 'order_id' | 'payment'>): StoredPurchase {
  return { orderId: order_id, payment: payment ? { provider: payment.provider, confirmUrl: payment.confirm_url } : undefined };
}

/** A held reservation ends at `expires_at`. An ordered reservation does not, because a payment may still arrive. */
export const endsAtExpiry = ({ status }: Pick<Reservation, 'status'>): boolean => status === 'held';

/** True if the seats of the reservation are still the fan's: it is ordered, or held and not expired. */
export function isReservationActive(reservation: Pick<Reservation, 'status' | 'expires_at'>, now: number): boolean {
  if (reservation.status === 'ordered') return true;
  return endsAtExpiry(reservation) && Date.parse(reservation.expires_at) > now;
}

/**
 * The data of one fan's purchases in browser storage. Ids and the queue receipt stay in local storage. The session token and the
 * holders' names are in session storage, which ends with the tab.
 */
export class PurchaseStore {
  constructor(private readonly fanId: string) {}

  read(matchId: string): StoredPurchase {
    return parse<StoredPurchase>(storage.local.read(this.name('purchase', matchId))) ?? {};
  }

  update(matchId: string, update: Partial<StoredPurchase>): void {
    storage.local.write(this.name('purchase', matchId), JSON.stringify({ ...this.read(matchId), ...update }));
  }

  forgetPurchase(matchId: string): void {
    this.update(matchId, { reservationId: undefined, isInvited: undefined, orderId: undefined, payment: undefined });
    storage.session.remove(this.name('holders', matchId));
  }

  readTurn(matchId: string): KnownTurn | undefined {
    return parse<KnownTurn>(storage.session.read(this.name('turn', matchId)));
  }

  writeTurn(matchId: string, turn: KnownTurn | undefined): void {
    const name = this.name('turn', matchId);
    if (turn) storage.session.write(name, JSON.stringify({ sessionToken: turn.sessionToken, expiresAt: turn.expiresAt }));
    else storage.session.remove(name);
  }

  readHolders(matchId: string): CheckOutRequest | undefined {
    return parse<CheckOutRequest>(storage.session.read(this.name('holders', matchId)));
  }

  writeHolders(matchId: string, request: CheckOutRequest): void {
    storage.session.write(this.name('holders', matchId), JSON.stringify(request));
  }

  private name(kind: string, matchId: string): string {
    return `tribina.${kind}.${this.fanId}.${matchId}`;
  }
}

function parse<T>(text: string | undefined): T | undefined {
  if (!text) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
