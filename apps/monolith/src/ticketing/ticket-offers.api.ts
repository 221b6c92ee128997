import type { Transaction } from '#application/transaction-manager';
import type { TransferStatus } from '#contracts/transfers';
import type { TicketStatus } from '#contracts/tickets';

/** The offer of a ticket to another fan. */
export interface TicketOffer {
  readonly id: string;
  readonly ticketId: string;
  readonly orderId: string;
  readonly matchId: string;
  readonly seatId: string;
  readonly sector: string;
  readonly row: string | null;
  readonly number: number | null;
  readonly fromUserId: string;
  /** The fan to whom it is offered. Of an offer to an address: the fan who has accepted it, else null. */
  readonly toUserId: string | null;
  readonly toEmail: string | null;
  readonly holderName: string | null;
  /** An open offer whose time is over is `expired`, on the clock of the database, also before the task has ended it. */
  readonly status: TransferStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly newTicketId: string | null;
}

/** A locked offer with its ticket, which is locked too. */
export interface LockedOffer extends TicketOffer {
  readonly ticketStatus: TicketStatus;
  readonly ticketHolderName: string;
}

export type NewOffer = Pick<TicketOffer, 'ticketId' | 'fromUserId' | 'toUserId' | 'toEmail' | 'holderName'> & {
  readonly matchId: string;
  readonly kickoffAt: Date;
};

/** A fan with the address of which the fan is known to be the owner. */
export interface FanWithAddress {
  readonly userId: string;
  readonly email: string | null;
}

/**
 * Offers of tickets. They are stored beside the tickets, because a ticket that is refunded or used ends its offer in the same
 * transaction. All code that changes an offer locks its ticket first.
 */
export abstract class TicketOffers {
  /**
   * Adds an open offer that ends 72 hours from now, at kick-off at the latest. The ticket must be locked. Undefined if the match has
   * begun.
   */
  abstract add(tx: Transaction, offer: NewOffer): Promise<TicketOffer | undefined>;
  /** Whether the ticket has an open offer whose time is not over. */
  abstract isOffered(tx: Transaction, ticketId: string): Promise<boolean>;
  abstract find(offerId: string): Promise<TicketOffer | undefined>;
  /** Locks the ticket, then its offer, until the transaction ends. */
  abstract lock(tx: Transaction, offerId: string): Promise<LockedOffer | undefined>;
  abstract accept(tx: Transaction, offerId: string, to: { userId: string; newTicketId: string }): Promise<TicketOffer>;
  abstract end(tx: Transaction, offerId: string, status: 'declined' | 'withdrawn'): Promise<TicketOffer>;
  /** Offers that the fan gave or received, newest first. Those to the fan's address are included. */
  abstract ofFan(fan: FanWithAddress, page: { after?: string | undefined; limit: number }): Promise<readonly TicketOffer[]>;
  /** How many offers to addresses the fan made in the last 24 hours: to this address, and to any. */
  abstract countToAddresses(tx: Transaction, userId: string, email: string): Promise<{ same: number; all: number }>;
  /** Open offers whose time is over, oldest first. */
  abstract due(limit: number): Promise<readonly TicketOffer[]>;
  /** Ends those of the offers that are still due and not locked. Returns their ids. */
  abstract expire(tx: Transaction, offerIds: readonly string[]): Promise<readonly string[]>;
  /** Call this in the transaction that moves the kick-off of a match: its open offers end at the new one at the latest. */
  abstract followKickoff(tx: Transaction, moved: { matchId: string; kickoffAt: Date }): Promise<void>;
  /** Withdraws all open offers of a match, in the transaction that cancels it. */
  abstract withdrawOfMatch(tx: Transaction, matchId: string): Promise<void>;
}
