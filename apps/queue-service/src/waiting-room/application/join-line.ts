import { blacklisted } from '#domain/blacklist/listed-fans';
import { DomainError } from '#domain/shared/domain-error';
import type { Blacklist, QueueEntry, Receipts, WaitingLines } from './ports.ts';

/** Puts a fan into the line of a match, once, on however many devices. */
export class JoinLine {
  constructor(
    private readonly lines: WaitingLines,
    private readonly receipts: Receipts,
    private readonly blacklist: Blacklist,
  ) {}

  async execute(
    { matchId, userId }: { matchId: string; userId: string },
    receipt?: string,
  ): Promise<{ created: boolean; entry: QueueEntry }> {
    const score = receipt === undefined ? undefined : await this.scoreOf(matchId, userId, receipt);
    if (this.blacklist.has(userId) && (await this.lines.readQueue(matchId))) throw blacklisted();
    const outcome = await this.lines.join(matchId, userId, score);
    // Listed while the join was on its way: whoever clears the lines may have passed this one before it arrived.
    if (outcome.kind !== 'unknown' && this.blacklist.has(userId)) {
      await this.lines.leave(matchId, userId);
      throw blacklisted();
    }
    switch (outcome.kind) {
      case 'created':
      case 'restored':
      case 'kept':
        return { created: outcome.kind !== 'kept', entry: outcome.entry };
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
  /** A receipt that is not ours is a mistake to hear of, not to lose one's place over unnoticed. */
  private async scoreOf(matchId: string, userId: string, receipt: string): Promise<string | undefined> {
    const score = this.receipts.read(matchId, userId, receipt);
    // A match without a line is the first thing to say, which joining does.
    if (score !== undefined || !(await this.lines.readQueue(matchId))) return score;
    throw new DomainError('VALIDATION_FAILED', 'This receipt is not for this fan and match.', {
      errors: [{ path: 'receipt', message: 'is not for this fan and match' }],
    });
  }
}
