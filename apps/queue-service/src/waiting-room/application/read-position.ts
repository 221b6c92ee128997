import { DomainError } from '#domain/shared/domain-error';
import type { QueueEntry, WaitingLines } from './ports.ts';

/** Where a fan stands, without joining. Who was never in line, or has left it, is not found. */
export class ReadPosition {
  constructor(private readonly lines: WaitingLines) {}

  async execute(matchId: string, userId: string): Promise<QueueEntry> {
    const entry = await this.lines.visit(matchId, userId);
    if (!entry) throw new DomainError('NOT_FOUND', 'This match has no waiting room.');
    if (entry.state.kind === 'nowhere' || (entry.state.kind === 'over' && entry.state.status === 'left')) {
      throw new DomainError('NOT_FOUND', 'You are not in this line.');
    }
    return entry;
  }
}
