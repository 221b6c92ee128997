import type { Jobs } from '#application/jobs';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { Clock } from '#application/clock';
import { afterAction, assertMayBe, type SaleAction } from '#domain/catalog/sale';
import { matchChanged } from '#domain/notification/holder-notice';
import { DomainError } from '#domain/shared/domain-error';
import type { Catalog, Match, Queues } from './ports.ts';

export type MatchChange = Partial<Omit<Match, 'id' | 'saleStatus' | 'pauseReason' | 'cancelledAt' | 'cancelReason'>>;

/**
 * Every change of a running match by an operator. The waiting room is told first and the catalogue committed after it took
 * it: if it is down nothing was changed, and if we die in between the same request leads to the same state again.
 */
export class SteerMatch {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: Catalog,
    private readonly queues: Queues,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  changeSale(command: { matchId: string; action: SaleAction; reason: string | null }): Promise<Match> {
    return this.change(command.matchId, (match) => {
      const saleStatus = afterAction(match.saleStatus, command.action);
      assertMayBe(saleStatus, match);
      return { saleStatus, pauseReason: saleStatus === 'paused' ? (command.reason ?? match.pauseReason) : null };
    });
  }

  /** Its sale is closed for ever; holders are told and refunded in the background. Once cancelled it stays as it was then. */
  cancelMatch(command: { matchId: string; reason: string }): Promise<Match> {
    const now = this.clock.now();
    return this.change(command.matchId, (match) =>
      match.cancelledAt === null
        ? { saleStatus: 'closed', pauseReason: null, cancelledAt: now, cancelReason: command.reason }
        : {},
    );
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

  private change(matchId: string, decide: Decision): Promise<Match> {
    return this.queues.exclusively(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
      const told = changed(match, decide);
      if (match.queueRequired) await this.queues.tell(told);
      try {
        return await this.transactions.run((tx) => this.commit(tx, told, decide));
      } catch (error) {
        await this.tellAgain(match);
        throw error;
      }
    });
  }

  /** Decided once more where it counts: it must still be what the waiting room was told. */
  private async commit(tx: Transaction, told: Match, decide: Decision): Promise<Match> {
    const match = await this.catalog.match(told.id, tx);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const { id, ...facts } = changed(match, decide);
    if (queueFacts(facts) !== queueFacts(told)) {
      throw new DomainError('LOCK_TIMEOUT', 'Somebody else changed this match in the same moment. Try again.');
    }
    await this.catalog.update(tx, id, facts);
    // Whoever has a ticket hears of it; whether anybody has is found out later.
    await this.jobs.put(tx, matchChanged(match, { id, ...facts }));
    return (await this.catalog.match(id, tx)) ?? { id, ...facts };
  }

  /** What it was told may not have come true; whatever is true is in the catalogue. If this fails too, the next change says it. */
  private async tellAgain({ id, queueRequired }: Match): Promise<void> {
    if (!queueRequired) return;
    const match = await this.catalog.match(id).catch(() => undefined);
    if (match) await this.queues.tell(match).catch(() => undefined);
  }
}

type Decision = (match: Match) => Partial<Omit<Match, 'id'>>;

/** All of it is written: a sale that opened by itself is open from now on because it says so, whatever becomes of its hour. */
function changed(match: Match, decide: Decision): Match {
  return { ...match, ...decide(match) };
}

/** What the waiting room is told. */
function queueFacts({ saleStatus, opensAt, processingRate, maxOpenWindows, pauseReason }: Omit<Match, 'id'>): string {
  return JSON.stringify([saleStatus, opensAt, processingRate, maxOpenWindows, pauseReason]);
}
