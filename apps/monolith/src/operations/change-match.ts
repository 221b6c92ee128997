import type { Jobs } from '#application/jobs';
import { recordChange } from '#application/recorded-change';
import type { Transaction, TransactionManager } from '#application/transaction-manager';
import type { Clock } from '#application/clock';
import type { MatchFacts } from '#domain/catalog/match';
import { saleStatusAfterAction, assertSaleStatusAllowed, type SaleAction } from '#domain/catalog/sale-changes';
import { matchChanged } from '#domain/notification/holder-notice';
import { DomainError } from '#domain/shared/domain-error';
import type { CatalogApi, CatalogMatch } from '../catalog/catalog.api.ts';
import type { QuotaApi } from '../quota/quota.api.ts';
import type { WaitingRoomApi } from '../waiting-room/waiting-room.api.ts';
import type { WebhookEvents } from '../webhooks/webhook-events.api.ts';

/** The fields that `PATCH /ops/matches/{id}` can change. */
export type MatchFactsChange = Partial<MatchFacts>;

/**
 * All changes of an existing match by an operator. A change is sent to the waiting room first and committed to the catalogue
 * after the waiting room has accepted it. So if the waiting room is down, nothing changes. If the process dies in between,
 * repeating the request leads to the same state.
 */
export class ChangeMatch {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly waitingRoom: WaitingRoomApi,
    private readonly jobs: Jobs,
    private readonly quotas: QuotaApi,
    private readonly webhooks: WebhookEvents,
    private readonly clock: Clock,
  ) {}

  changeSale(command: { matchId: string; action: SaleAction; reason: string | null }): Promise<CatalogMatch> {
    return this.change(command.matchId, (match) => {
      const saleStatus = saleStatusAfterAction(match.saleStatus, command.action);
      assertSaleStatusAllowed(saleStatus, match);
      return { saleStatus, pauseReason: saleStatus === 'paused' ? (command.reason ?? match.pauseReason) : null };
    });
  }

  /** Closes the sale for ever; background jobs notify and refund the ticket holders. A second cancellation changes nothing. */
  cancelMatch(command: { matchId: string; reason: string }): Promise<CatalogMatch> {
    const now = this.clock.now();
    return this.change(command.matchId, (match) =>
      match.cancelledAt === null
        ? { saleStatus: 'closed', pauseReason: null, cancelledAt: now, cancelReason: command.reason }
        : {},
    );
  }

  changeQueue(command: { matchId: string; processingRate?: number; maxOpenWindows?: number }): Promise<CatalogMatch> {
    return this.change(command.matchId, (match) => {
      if (!match.queueRequired) throw new DomainError('INVALID_STATE', 'This match has no waiting room.');
      return {
        processingRate: command.processingRate ?? match.processingRate,
        maxOpenWindows: command.maxOpenWindows ?? match.maxOpenWindows,
      };
    });
  }

  changeFacts(command: { matchId: string; change: MatchFactsChange }): Promise<CatalogMatch> {
    return this.change(command.matchId, () => command.change);
  }

  private change(matchId: string, decide: Decision): Promise<CatalogMatch> {
    return this.waitingRoom.withQueueLock(matchId, async () => {
      const match = await this.catalog.match(matchId);
      if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
      const sent = changed(match, decide);
      if (match.queueRequired) await this.waitingRoom.sync(sent);
      try {
        return await this.transactions.run((tx) => this.commit(tx, sent, decide));
      } catch (error) {
        await this.syncAgain(match);
        throw error;
      }
    });
  }

  /**
   * Computes the change again from the match as the transaction reads it. Fails if the result is not what the waiting room was
   * told.
   */
  private async commit(tx: Transaction, sent: CatalogMatch, decide: Decision): Promise<CatalogMatch> {
    const match = await this.catalog.match(sent.id, tx);
    if (!match) throw new DomainError('NOT_FOUND', 'There is no such match.');
    const { id, ...facts } = changed(match, decide);
    if (queueFacts(facts) !== queueFacts(sent)) {
      throw new DomainError('LOCK_TIMEOUT', 'Another request changed this match at the same time. Try again.');
    }
    await this.catalog.update(tx, id, facts);
    recordChange(tx, { before: { ...match }, after: { id, ...facts } });
    const { kickoffAt } = facts;
    if (kickoffAt.getTime() !== match.kickoffAt.getTime()) await this.quotas.followKickoff(tx, { matchId: id, kickoffAt });
    // The job notifies the ticket holders. Whether the match has ticket holders is only checked when the job runs.
    await this.jobs.put(tx, matchChanged(match, { id, ...facts }));
    if (match.cancelledAt === null && facts.cancelledAt !== null) {
      const data = { match_id: id, reason: facts.cancelReason };
      await this.webhooks.tell(tx, [{ type: 'match.cancelled', subjectId: id, data }]);
    }
    return (await this.catalog.match(id, tx)) ?? { id, ...facts };
  }

  /**
   * After a failed commit: sends the waiting room the state that is in the catalogue. If this call fails too, the next change of
   * the match sends the state.
   */
  private async syncAgain({ id, queueRequired }: CatalogMatch): Promise<void> {
    if (!queueRequired) return;
    const match = await this.catalog.match(id).catch(() => undefined);
    if (match) await this.waitingRoom.sync(match).catch(() => undefined);
  }
}

type Decision = (match: CatalogMatch) => Partial<Omit<CatalogMatch, 'id'>>;

/**
 * The match after the change. All fields are written, also `saleStatus`: a sale that opened at `opensAt` is stored as open and
 * stays open if `opensAt` is moved.
 */
function changed(match: CatalogMatch, decide: Decision): CatalogMatch {
  return { ...match, ...decide(match) };
}

/** The fields of a match that the waiting room knows, as one text to compare. */
function queueFacts({ saleStatus, opensAt, processingRate, maxOpenWindows, pauseReason }: Omit<CatalogMatch, 'id'>): string {
  return JSON.stringify([saleStatus, opensAt, processingRate, maxOpenWindows, pauseReason]);
}
