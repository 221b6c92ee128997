import type { Conflict, EffectOutcome, LoadedEffect } from '#application/loaded-effect';
import type { TransactionManager } from '#application/transaction-manager';
import { gateScan } from '#contracts/gate-scans';
import { RequestRefused } from '#platform/http/request-refused';
import type { z } from 'zod';
import type { TicketClaims } from './domain/ticket-code.ts';
import { GateLogApi } from './gate-log.api.ts';
import type { PostgresTickets, ScannedTicket } from './postgres-tickets.ts';
import type { TicketCodeReader } from './ticket-codes.ts';

type GateScan = z.output<typeof gateScan>;

/**
 * Records the scans that the gates report afterwards. If a gate admitted a valid ticket, the ticket becomes used. If a gate
 * admitted any other code, a conflict is recorded and nothing else changes, because that person is in the stadium already.
 */
export class GateLog extends GateLogApi {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly tickets: PostgresTickets,
    private readonly codes: TicketCodeReader,
  ) {
    super();
  }

  async record(loaded: unknown, effect: LoadedEffect): Promise<EffectOutcome> {
    const { data: scan, error } = gateScan.safeParse(loaded);
    if (!scan) {
      const [issue] = error.issues;
      throw new RequestRefused('VALIDATION_FAILED', {
        detail: `Not a gate scan: ${issue?.path.join('.')} ${issue?.message}`,
      });
    }
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
  { match_id, gate, scanned_at }: GateScan,
  claims: TicketClaims | undefined,
  ticket: ScannedTicket | undefined,
): Conflict | undefined {
  const conflict = (code: Conflict['code'], why: string): Conflict => ({
    subject: claims?.ticketId ?? 'code',
    code,
    detail: `admitted at ${gate}, ${scanned_at}: ${why}`,
  });
  if (!claims) return conflict('CODE_FORGED', 'the code is not ours');
  if (!ticket) return conflict('TICKET_UNKNOWN', 'there is no such ticket');
  if (ticket.matchId !== match_id) return conflict('TICKET_OF_ANOTHER_MATCH', `the ticket is for match ${ticket.matchId}`);
  if (ticket.status === 'used') return conflict('TICKET_USED', 'the ticket was used before');
  if (ticket.status !== 'valid' || ticket.serial !== claims.serial)
    return conflict('TICKET_DEAD', `the ticket or its code is no longer valid: status ${ticket.status}`);
  return undefined;
}
