import type { TransactionManager } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { assertWithinLimit } from '#domain/purchase/buying-rules';
import { DomainError } from '#domain/shared/domain-error';
import type { BlacklistApi } from '../blacklist/blacklist.api.ts';
import type { CatalogApi } from '../catalog/catalog.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { OwnTicket, TicketingApi } from '../ticketing/ticketing.api.ts';

/** The ticket, its owner, the fan who receives it and the name of the new holder. */
export interface TransferTicketCommand {
  readonly ticketId: string;
  readonly userId: string;
  readonly toUserId: string;
  readonly holderName: string;
}

/** Transfers a ticket to another fan. The giver's code becomes invalid, and the ticket counts towards the receiver's limit, unless it is of
 * a quota. */
export class TransferTicket {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly ticketing: TicketingApi,
    private readonly catalog: CatalogApi,
    private readonly purchase: PurchaseApi,
    private readonly blacklist: BlacklistApi,
  ) {}

  async execute({ ticketId, userId, toUserId, holderName }: TransferTicketCommand): Promise<OwnTicket> {
    return this.transactions.run(async (tx) => {
      const ticket = await this.ticketing.lock(tx, ticketId, userId);
      if (!ticket) throw new DomainError('NOT_FOUND', 'There is no such ticket.');
      const { matchId, orderId, status } = ticket;
      if ((await this.blacklist.listed(tx, [toUserId])).has(toUserId)) throw blacklisted('This fan may not receive tickets.');
      if (status !== 'valid') throw new DomainError('INVALID_STATE', `This ticket was ${status}: it cannot be transferred.`);
      if (toUserId === userId) throw new DomainError('INVALID_STATE', 'You already own this ticket.');
      const match = await this.catalog.match(matchId, tx);
      if (!match) throw new Error(`a ticket exists for the unknown match ${matchId}`);
      const taken = await this.purchase.handOver(tx, { matchId, orderId, from: userId, to: toUserId });
      if (taken !== undefined) assertWithinLimit({ limit: match.maxTicketsPerFan, taken, wanted: 1 });
      await this.ticketing.handOver(tx, ticketId, { userId: toUserId, holderName, from: userId });
      return { ...ticket, status: 'transferred' };
    });
  }
}
