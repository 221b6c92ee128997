import type { Conflict, EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { TransactionManager } from '#application/transaction-manager';
import type { TicketClaims } from './domain/ticket-code.ts';
import type { PostgresTickets, ScannedTicket } from './postgres-tickets.ts';
import type { TicketCodes } from './ticket-codes.ts';

/** A scan as a gate reports it: the ticket's code, where and when it was scanned, and whether the gate let its owner in. */
export interface RecordScanCommand {
  readonly code: string;
  readonly matchId: string;
  readonly gate: string;
  readonly scannedAt: string;
  readonly admitted: boolean;
}

/**
 * Records a scan that a gate reports afterwards. If the gate admitted a valid ticket, the ticket becomes used. If the gate
 * admitted any other code, a conflict is recorded and nothing else changes, because that person is in the stadium already.
 */
export class RecordScan {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly tickets: PostgresTickets,
    private readonly codes: TicketCodes,
  ) {}

  execute(scan: RecordScanCommand, effect: LoadedEffect): Promise<EffectOutcome> {
    const claims = scan.admitted ? this.codes.read(scan.code) : undefined;
    return this.transactions.run(async (tx) => {
      if (!(await effect.begin(tx))) return { conflicts: [] };
      const ticket = claims && (await this.tickets.lockScanned(tx, claims.ticketId));
      const conflict = scan.admitted ? conflictOf(scan, claims, ticket) : undefined;
      if (ticket && scan.admitted && !conflict) await this.tickets.use(tx, ticket.id);
      const outcome = { conflicts: conflict ? [conflict] : [] };
      await effect.end(tx, outcome);
      return outcome;
    });
  }
}

function conflictOf(
  { matchId, gate, scannedAt }: RecordScanCommand,
  claims: TicketClaims | undefined,
  ticket: ScannedTicket | undefined,
): Conflict | undefined {
  const conflict = (code: Conflict['code'], why: string): Conflict => ({
    subject: claims?.ticketId ?? 'code',
    code,
    detail: `admitted at ${gate}, ${scannedAt}: ${why}`,
  });
  if (!claims) return conflict('CODE_FORGED', 'the code is not ours');
  if (!ticket) return conflict('TICKET_UNKNOWN', 'there is no such ticket');
  if (ticket.matchId !== matchId) return conflict('TICKET_OF_ANOTHER_MATCH', `the ticket is for match ${ticket.matchId}`);
  if (ticket.status === 'used') return conflict('TICKET_USED', 'the ticket was used before');
  if (ticket.status !== 'valid' || ticket.serial !== claims.serial)
    return conflict('TICKET_DEAD', `the ticket or its code is no longer valid: status ${ticket.status}`);
  return undefined;
}
