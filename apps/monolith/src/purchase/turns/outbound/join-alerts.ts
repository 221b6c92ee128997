import type { AlertChannel } from '#domain/notification/alert-operators';
import type { AlertNotes } from '#messaging/sending/alert-notes';
import { notesOf } from '#messaging/sending/alerts';
import type { Logger } from '#platform/logging/logger';
import type { WaitingRoomEvent } from '../application/waiting-room-ports.ts';

const ABOUT = 'many joins from one address';

/**
 * Alerts operators to an address from which unusually many fans joined at an opening. The alert names the address, because operators
 * can act on it only at their proxy, and there by address; it is kept as long as all alerts, and no metric and no log line has it.
 */
export class JoinAlerts {
  constructor(
    private readonly notes: Pick<AlertNotes, 'add'>,
    private readonly ways: readonly AlertChannel[],
    private readonly logger: Logger,
  ) {}

  /** Notes are stored in a transaction of their own, and one with a known subject is ignored: an event may come again. */
  async note({
    matchId,
    address,
    joins,
    line,
  }: Extract<WaitingRoomEvent, { readonly kind: 'joins from one address' }>): Promise<void> {
    this.logger.warn({ alert: ABOUT, match_id: matchId, joins, line }, 'many fans joined from one address');
    const text = `${joins} of ${line} fans in the line of match ${matchId} joined from the address ${address} within a minute after the opening`;
    await this.notes.add(notesOf({ about: ABOUT, text, subject: `joins ${matchId} ${address}` }, this.ways));
  }
}
