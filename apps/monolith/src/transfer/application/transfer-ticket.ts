import type { TransactionManager } from '#application/transaction-manager';
import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { assertWithinLimit } from '#domain/purchase/buying-rules';
import { DomainError } from '#domain/shared/domain-error';
import type { Blacklist, FanLimits, TransferableTicket, Tickets } from './ports.ts';

/** The ticket, its owner, the fan who receives it and the name of the new holder. */
export interface TransferTicketCommand {
  readonly ticketId: string;
  readonly userId: string;
  readonly toUserId: string;
  readonly holderName: string;
}

/** Transfers a ticket to another fan. The giver's code becomes invalid, and the ticket counts towards the receiver's limit. */
export class TransferTicket {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly tickets: Tickets,
    private readonly limits: FanLimits,
    private readonly blacklist: Blacklist,
  ) {}

  async execute({ ticketId, userId, toUserId, holderName }: TransferTicketCommand): Promise<TransferableTicket> {
    return this.transactions.run(async (tx) => {
      const ticket = await this.tickets.lock(tx, ticketId, userId);
      if (!ticket) throw new DomainError('NOT_FOUND', 'There is no such ticket.');
      if (await this.blacklist.has(tx, toUserId)) throw blacklisted('This fan may not receive tickets.');
      if (ticket.status !== 'valid')
        throw new DomainError('INVALID_STATE', `This ticket was ${ticket.status}: it cannot be transferred.`);
      if (toUserId === userId) throw new DomainError('INVALID_STATE', 'You already own this ticket.');
      const limit = await this.limits.ofMatch(tx, ticket.matchId);
      const taken = await this.limits.handOver(tx, { matchId: ticket.matchId, from: userId, to: toUserId });
      assertWithinLimit({ limit, taken, wanted: 1 });
      await this.tickets.handOver(tx, ticketId, { userId: toUserId, holderName, from: userId });
      return { ...ticket, status: 'transferred' };
    });
  }
}
