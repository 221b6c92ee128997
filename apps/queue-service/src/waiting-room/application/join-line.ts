import { blacklisted } from '#domain/blacklist/blacklist-rules';
import { DomainError } from '#domain/shared/domain-error';
import type { CountJoins } from './count-joins.ts';
import type { Blacklist, QueueEntry, Receipts, WaitingLines } from './ports.ts';

/** Puts a fan into the line of a match. A fan has one queue entry, whatever the number of devices. */
export class JoinLine {
  constructor(
    private readonly lines: WaitingLines,
    private readonly receipts: Receipts,
    private readonly blacklist: Blacklist,
    private readonly counts: Pick<CountJoins, 'note'>,
  ) {}

  async execute(
    { matchId, userId, address }: { matchId: string; userId: string; address: string },
    receipt?: string,
  ): Promise<{ created: boolean; entry: QueueEntry }> {
    const score = receipt === undefined ? undefined : await this.scoreOf(matchId, userId, receipt);
    if (this.blacklist.has(userId) && (await this.lines.readQueue(matchId))) throw blacklisted();
    const outcome = await this.lines.join(matchId, userId, score);
    // The fan came onto the blacklist during the join: RemoveBlacklistedFans may have checked this line before the join arrived.
    if (outcome.kind !== 'unknown' && this.blacklist.has(userId)) {
      await this.lines.leave(matchId, userId);
      throw blacklisted();
    }
    if ('entry' in outcome) {
      const [created, { entry }] = [outcome.kind !== 'kept', outcome];
      if (created && entry.queue.isOpening) this.counts.note(matchId, address);
      return { created, entry };
    }
    switch (outcome.kind) {
      case 'unknown':
        throw new DomainError('NOT_FOUND', 'This match has no waiting room.');
      case 'scheduled':
        throw new DomainError('SALE_NOT_OPEN', 'The waiting room is not open yet.', {
          sale_status: 'scheduled',
          ...(outcome.opensAt ? { opens_at: outcome.opensAt } : {}),
        });
      case 'closed':
        throw new DomainError('QUEUE_CLOSED', 'The waiting room is closed.', { reason: outcome.reason });
    }
  }

  /**
   * The score (join time) in a receipt. A receipt that is not valid is refused: if it were ignored, the fan would go to the end
   * of the line without knowing why.
   */
  private async scoreOf(matchId: string, userId: string, receipt: string): Promise<string | undefined> {
    const score = this.receipts.read(matchId, userId, receipt);
    // For a match without a queue the join that follows answers 404, whatever the receipt is.
    if (score !== undefined || !(await this.lines.readQueue(matchId))) return score;
    throw new DomainError('VALIDATION_FAILED', 'This receipt is not for this fan and match.', {
      errors: [{ path: 'receipt', message: 'is not for this fan and match' }],
    });
  }
}
