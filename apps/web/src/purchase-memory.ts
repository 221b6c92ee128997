import type { CheckoutRequest, CheckedOutOrder, Reservation } from './api/types.ts';
import { storage } from './storage.ts';

/** What one fan has going on for one match, so that a reload, or a phone that dropped the tab, changes nothing. */
export interface PurchaseMemory {
  reservationId?: string;
  orderId?: string;
  /** How that order is paid; the sandbox has an address that plays the provider. */
  payment?: { provider: string; confirmUrl?: string };
  /** Proof of the exact place in the line, should the waiting room lose its memory. */
  receipt?: string;
}

export interface KnownTurn {
  sessionToken: string;
  expiresAt: string;
}

/** What to remember of a placed order. One of 0 cents has no payment. */
export function rememberedCheckout({ order_id, payment }: Pick<CheckedOutOrder, 'order_id' | 'payment'>): PurchaseMemory {
  return { orderId: order_id, payment: payment ? { provider: payment.provider, confirmUrl: payment.confirm_url } : undefined };
}

/** A hold ends with its time. In checkout the order decides: a payment may be on its way. */
export const endsWithItsTime = ({ status }: Pick<Reservation, 'status'>): boolean => status === 'held';

/** Still the fan's, for example after a reload: ordered, or on hold and in time. */
export function isStillTheFans(reservation: Pick<Reservation, 'status' | 'expires_at'>, now: number): boolean {
  if (reservation.status === 'ordered') return true;
  return endsWithItsTime(reservation) && Date.parse(reservation.expires_at) > now;
}

/** Ids last on the device; the turn's proof and people's names only as long as the tab. */
export class Memory {
  constructor(private readonly fanId: string) {}

  read(matchId: string): PurchaseMemory {
    return parse<PurchaseMemory>(storage.local.read(this.name('purchase', matchId))) ?? {};
  }

  change(matchId: string, change: Partial<PurchaseMemory>): void {
    storage.local.write(this.name('purchase', matchId), JSON.stringify({ ...this.read(matchId), ...change }));
  }

  forgetPurchase(matchId: string): void {
    this.change(matchId, { reservationId: undefined, orderId: undefined, payment: undefined });
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

  readHolders(matchId: string): CheckoutRequest | undefined {
    return parse<CheckoutRequest>(storage.session.read(this.name('holders', matchId)));
  }

  writeHolders(matchId: string, wish: CheckoutRequest): void {
    storage.session.write(this.name('holders', matchId), JSON.stringify(wish));
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
