import { DomainError } from '#domain/shared/domain-error';
import type { Place, WaitingLines } from './ports.ts';

/** Where a fan stands, without joining. Who was never in line, or has left it, is not found. */
export class LookUpPlace {
  constructor(private readonly lines: WaitingLines) {}

  async execute(matchId: string, userId: string): Promise<Place> {
    const place = await this.lines.visit(matchId, userId);
    if (!place) throw new DomainError('NOT_FOUND', 'This match has no waiting room.');
    if (place.state.kind === 'nowhere' || (place.state.kind === 'over' && place.state.status === 'left')) {
      throw new DomainError('NOT_FOUND', 'You are not in this line.');
    }
    return place;
  }
}
