import { Ids } from '#application/ids';
import type { Transaction } from '#application/transaction-manager';
import { runUnprepared } from '#platform/postgres/database';
import { inside } from '#platform/postgres/transaction';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TicketOffers, type FanWithAddress, type LockedOffer, type NewOffer, type TicketOffer } from './ticket-offers.api.ts';
import * as sql from './ticket-offers.sql.ts';

/** The offers of tickets, in the table `transfer_offers`. */
@Injectable()
export class PostgresTicketOffers extends TicketOffers {
  constructor(
    private readonly dataSource: DataSource,
    private readonly ids: Ids,
  ) {
    super();
  }

  async add(tx: Transaction, offer: NewOffer): Promise<TicketOffer | undefined> {
    await inside(tx).rows(sql.EXPIRE_OFFER_OF_TICKET.with({ ticketId: offer.ticketId }));
    const [added] = await inside(tx).rows<{ id: string }>(sql.ADD_OFFER.with({ ...offer, id: this.ids.next() }));
    return added && this.read(tx, added.id);
  }

  async isOffered(tx: Transaction, ticketId: string): Promise<boolean> {
    return (await inside(tx).rows(sql.OPEN_OFFER_OF_TICKET.with({ ticketId }))).length > 0;
  }

  async find(offerId: string): Promise<TicketOffer | undefined> {
    return (await runUnprepared<TicketOffer[]>(this.dataSource, sql.READ_OFFER.with({ id: offerId })))[0];
  }

  async lock(tx: Transaction, offerId: string): Promise<LockedOffer | undefined> {
    await inside(tx).rows(sql.LOCK_TICKET_OF_OFFER.with({ id: offerId }));
    return (await inside(tx).rows<LockedOffer>(sql.LOCK_OFFER.with({ id: offerId })))[0];
  }

  async accept(tx: Transaction, offerId: string, to: { userId: string; newTicketId: string }): Promise<TicketOffer> {
    await inside(tx).rows(sql.ACCEPT_OFFER.with({ id: offerId, ...to }));
    return this.read(tx, offerId);
  }

  async end(tx: Transaction, offerId: string, status: 'declined' | 'withdrawn'): Promise<TicketOffer> {
    await inside(tx).rows(sql.END_OFFER.with({ id: offerId, status }));
    return this.read(tx, offerId);
  }

  ofFan({ userId, email }: FanWithAddress, page: { after?: string | undefined; limit: number }): Promise<readonly TicketOffer[]> {
    const { after = null, limit } = page;
    return runUnprepared<TicketOffer[]>(this.dataSource, sql.OFFERS_OF_FAN.with({ userId, email, after, limit }));
  }

  async countToAddresses(tx: Transaction, userId: string, email: string): Promise<{ same: number; all: number }> {
    const statement = sql.COUNT_OFFERS_TO_ADDRESSES.with({ userId, email });
    const [count] = await inside(tx).rows<{ same: number; all: number }>(statement);
    return count ?? { same: 0, all: 0 };
  }

  due(limit: number): Promise<readonly TicketOffer[]> {
    return this.dataSource.query<TicketOffer[]>(sql.DUE_OFFERS, [limit]);
  }

  async expire(tx: Transaction, offerIds: readonly string[]): Promise<readonly string[]> {
    const rows = await inside(tx).rows<{ id: string }>(sql.EXPIRE_OFFERS.with({ ids: offerIds }));
    return rows.map(({ id }) => id);
  }

  async followKickoff(tx: Transaction, moved: { matchId: string; kickoffAt: Date }): Promise<void> {
    await inside(tx).rows(sql.MOVE_ENDS_OF_OFFERS.with(moved));
  }

  async withdrawOfMatch(tx: Transaction, matchId: string): Promise<void> {
    await inside(tx).rows(sql.WITHDRAW_OFFERS_OF_MATCH.with({ matchId }));
  }

  private async read(tx: Transaction, offerId: string): Promise<TicketOffer> {
    const [offer] = await inside(tx).rows<TicketOffer>(sql.READ_OFFER.with({ id: offerId }));
    if (!offer) throw new Error(`the offer ${offerId} does not exist`);
    return offer;
  }
}
