import type { QuotaKind } from '#contracts/quota-kinds';
import { DomainError } from '#domain/shared/domain-error';
import { tables } from '../../apps/monolith/src/purchase/testing/memory-tables.ts';
import { quotaTables } from '../../apps/monolith/src/quota/testing/memory-quota-tables.ts';
import { Caller } from './caller.ts';
import { HOLD_MS, MATCH_ID } from './replicas.ts';

const KINDS: readonly QuotaKind[] = ['club', 'fan_group', 'buffer'];

const FREE: Readonly<Record<string, number>> = { east: 0 };

/** Who works with quotas: does some random actions, with pauses. */
abstract class Staff extends Caller {
  async run(): Promise<void> {
    const { scheduler } = this.system;
    const { random } = scheduler;
    for (let actions = random.between(3, 6); actions > 0; actions -= 1) {
      await this.act();
      if (random.chance(0.3)) await scheduler.sleepUntil(scheduler.nextExpiry() - random.int(2));
      else await scheduler.sleep(random.pick([0, 1, random.int(HOLD_MS)]));
    }
  }

  protected abstract act(): Promise<void>;

  protected anyQuota(): string | undefined {
    const quotas = this.system.db.rows(quotaTables.quotas);
    return quotas.length === 0 ? undefined : this.system.scheduler.random.pick(quotas).id;
  }
}

/** A simulated operator who creates quotas, moves places, and decides about the moves of the other operator. */
export class Operator extends Staff {
  protected async act(): Promise<void> {
    const { random } = this.system.scheduler;
    const from = this.anyQuota();
    const choice = random.int(6);
    if (from === undefined || choice <= 1) return this.create(random.chance(0.4) ? (from ?? null) : null);
    if (choice === 5) return this.decide();
    return this.move(from, random.chance(0.4) ? null : (this.anyQuota() ?? null));
  }

  private async create(parentId: string | null): Promise<void> {
    const { scheduler } = this.system;
    const { random } = scheduler;
    const claimUntil = random.chance(0.6) ? later(scheduler.nowMs, random.pick([0.5, 1, 1.5, 3])) : null;
    const returnAt = random.chance(0.7) ? later(claimUntil?.getTime() ?? scheduler.nowMs, random.pick([0.5, 1, 2])) : null;
    const command = {
      ...{ matchId: MATCH_ID, parentId, name: 'quota', kind: random.pick(KINDS), members: [], contactEmail: null },
      ...{ opensAt: null, claimUntil, returnAt, maxPerInvitation: 4, actor: this.userId },
      onReturn: random.pick(
        parentId === null ? (['public', 'keep'] as const) : (['public', 'parent', 'parent', 'keep'] as const),
      ),
      neverTo: random.chance(0.4) ? [random.pick(KINDS), random.pick(KINDS)] : [],
      priceCents: random.chance(0.2) ? FREE : {},
      places: [{ quantity: random.between(1, parentId === null ? 4 : 2) }],
    };
    await this.call(
      'creates a quota',
      (replica) => replica.createQuota.execute(command),
      ({ quota }) => quota.id,
    );
  }

  private async move(from: string, to: string | null): Promise<void> {
    const { random } = this.system.scheduler;
    const places = [{ quantity: random.between(1, 2) }];
    const command = { from, to, places, reason: 'change of plan', override: random.chance(0.5), actor: this.userId };
    await this.call(
      `moves places of ${from}`,
      (replica) => replica.movePlaces.execute(command),
      ({ move }) => move.id,
    );
  }

  private async decide(): Promise<void> {
    const { db, scheduler } = this.system;
    const pending = db.rows(tables.moveRequests, ({ status, actor }) => status === 'pending' && actor !== this.userId);
    if (pending.length === 0) return;
    const decision = { moveId: scheduler.random.pick(pending).id, by: this.userId };
    const approves = scheduler.random.chance(0.7);
    await this.call(
      `decides about ${decision.moveId}`,
      ({ decideMove }) => (approves ? decideMove.approve(decision) : decideMove.reject(decision)),
      ({ status }) => status,
    );
  }
}

/** A simulated partner who issues lists of invitations, the same list also twice, and withdraws invitations. */
export class Partner extends Staff {
  protected async act(): Promise<void> {
    const { scheduler, db } = this.system;
    const { random } = scheduler;
    await scheduler.until('waits for a quota', () => this.anyQuotaExists(), scheduler.nowMs + HOLD_MS);
    const invitations = db.rows(quotaTables.invitations);
    if (invitations.length > 0 && random.chance(0.3)) return this.withdraw(random.pick(invitations).id);
    const quotaId = this.anyQuota();
    if (quotaId !== undefined) await this.issue(quotaId);
  }

  private anyQuotaExists(): boolean {
    return this.system.db.rows(quotaTables.quotas).length > 0;
  }

  private async issue(quotaId: string): Promise<void> {
    const { scheduler } = this.system;
    const { random } = scheduler;
    const rows = Array.from({ length: random.between(1, 2) }, () => ({
      ...{ email: `guest-${random.int(3)}@example.hr`, quantity: random.between(1, 2) },
    }));
    const expiresAt = random.chance(0.5) ? later(scheduler.nowMs, random.pick([0.5, 1, 2])) : null;
    if (expiresAt) scheduler.registerExpiry(expiresAt.getTime());
    const listKey = random.pick([null, 'list-1', 'list-2']);
    const command = { quotaId, member: undefined, actor: this.userId, listKey, expiresAt, rows };
    await this.call(
      `invites people to ${quotaId}`,
      async ({ issuing, issueInvitations }) => {
        // A process issues the lists of a quota one at a time. The scheduler does not see who waits inside of the use case.
        await scheduler.until(`waits for another list of ${quotaId}`, () => !issuing.has(quotaId));
        issuing.add(quotaId);
        const verdicts = await issueInvitations.execute(command).finally(() => issuing.delete(quotaId));
        // Without a new invitation nothing is stored, the key neither, so the request may get another answer later.
        if (!verdicts.some(({ status }) => status === 'created')) throw new DomainError('QUOTA_EXCEEDED', 'nobody was invited');
        return verdicts;
      },
      (verdicts) => verdicts.map(({ status, id }) => [status, id]),
    );
  }

  private async withdraw(invitationId: string): Promise<void> {
    await this.call(
      `withdraws ${invitationId}`,
      (replica) => replica.endInvitations.withdraw(invitationId),
      () => 'withdrawn',
    );
  }
}

const later = (fromMs: number, holds: number): Date => new Date(fromMs + holds * HOLD_MS);
