import { DomainError } from '#domain/shared/domain-error';
import type { QueueEntry, WaitingLines } from './ports.ts';

/** Reads a fan's queue entry without joining. NOT_FOUND for a fan who was never in line or has left it. */
export class ReadPosition {
  constructor(private readonly lines: WaitingLines) {}

  async execute(matchId: string, userId: string): Promise<QueueEntry> {
    const entry = await this.lines.pollEntry(matchId, userId);
    if (!entry) throw new DomainError('NOT_FOUND', 'This match has no waiting room.');
    if (entry.state.kind === 'not_in_line' || (entry.state.kind === 'over' && entry.state.status === 'left')) {
      throw new DomainError('NOT_FOUND', 'You are not in this line.');
    }
    return entry;
  }
}
