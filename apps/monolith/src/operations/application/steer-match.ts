import type { TransactionManager } from '#application/transaction-manager';
import { afterAction, type SaleAction } from '#domain/catalog/sale';
import { DomainError } from '#domain/shared/domain-error';
import type { Catalog, Match, Queues } from './ports.ts';

export type MatchChange = Partial<Omit<Match, 'id' | 'saleStatus' | 'pauseReason'>>;

/**
 * Every change of a running match by an operator. The waiting room is told first and the catalogue committed after it took
 * it: if it is down nothing was changed, and if we die in between the same request leads to the same state again.
 */
export class SteerMatch {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: Catalog,
    private readonly queues: Queues,
  ) {}

  changeSale(command: { matchId: string; action: SaleAction; reason: string | null }): Promise<Match> {
    return this.change(command.matchId, (match) => {
      const saleStatus = afterAction(match.saleStatus, command.action);
      return { saleStatus, pauseReason: saleStatus === 'paused' ? (command.reason ?? match.pauseReason) : null };
    });
  }

  changeQueue(command: { matchId: string; processingRate?: number; maxOpenWindows?: number }): Promise<Match> {
    return this.change(command.matchId, (match) => {
      if (!match.queueRequired) throw new DomainError('INVALID_STATE', 'This match has no waiting room.');
      return {
        processingRate: command.processingRate ?? match.processingRate,
        maxOpenWindows: command.maxOpenWindows ?? match.maxOpenWindows,
      };
    });
  }

  changeFacts(command: { matchId: string; change: MatchChange }): Promise<Match> {
    return this.change(command.matchId, () => command.change);
  }

  /** Decided on what is known, told, and then decided again where it is committed: it must still be the same. */
  private change(matchId: string, decide: Decision): Promise<Match> {
    return this.queues.exclusively(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
      const told = changed(match, decide);
      if (match.queueRequired) await this.queues.tell(told);
      return this.transactions.run(async (tx) => {
        const now = await this.catalog.match(matchId, tx);
        if (!now) throw new DomainError('NOT_FOUND', 'There is no such match.');
        const wanted = changed(now, decide);
        if (queueFacts(wanted) !== queueFacts(told)) {
          throw new DomainError('LOCK_TIMEOUT', 'Somebody else changed this match in the same moment. Try again.');
        }
        const { id: _id, ...facts } = wanted;
        await this.catalog.update(tx, matchId, facts);
        return (await this.catalog.match(matchId, tx)) ?? wanted;
      });
    });
  }
}

type Decision = (match: Match) => Partial<Omit<Match, 'id'>>;

/** All of it is written: a sale that opened by itself is open from now on because it says so, whatever becomes of its hour. */
function changed(match: Match, decide: Decision): Match {
  return { ...match, ...decide(match) };
}

/** What the waiting room is told. */
function queueFacts({ saleStatus, opensAt, processingRate, maxOpenWindows, pauseReason }: Match): string {
  return JSON.stringify([saleStatus, opensAt, processingRate, maxOpenWindows, pauseReason]);
}
