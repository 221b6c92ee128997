import { DomainError } from '#domain/shared/domain-error';
import type { Place, WaitingLines } from './ports.ts';

/** Puts a fan into the line of a match, once, on however many devices. */
export class JoinLine {
  constructor(private readonly lines: WaitingLines) {}

  async execute(matchId: string, userId: string): Promise<{ created: boolean; place: Place }> {
    const outcome = await this.lines.join(matchId, userId);
    switch (outcome.kind) {
      case 'created':
      case 'kept':
        return { created: outcome.kind === 'created', place: outcome.place };
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
}
