import type { Transaction } from '#application/transaction-manager';
import type { SimulatedDatabase } from '#testing/simulation/simulated-database';
import { inside } from '#testing/simulation/simulated-transactions';
import { tables } from '../../purchase/testing/memory-tables.ts';
import type { ClaimableInvitation, LockedInvitation } from '../claims/claimable-invitation.ts';
import type { Claims } from '../claims/postgres-claims.ts';
import { addressKey } from '../invitations/plan-list.ts';
import type { Invitation, Invitations, ListFacts, NewInvitation } from '../invitations/postgres-invitations.ts';
import { quotaTables } from './memory-quota-tables.ts';

const { invitations, ofList, quotas, tokens } = quotaTables;

/** Does the same as postgres-invitations.ts, statement by statement, on the simulated database. Tokens are stored as they are. */
export class MemoryInvitations implements Invitations {
  constructor(private readonly db: SimulatedDatabase) {}

  newIds(count: number): readonly string[] {
    return Array.from({ length: count }, () => this.db.scheduler.newId('i'));
  }

  async add(tx: Transaction, facts: ListFacts, added: readonly NewInvitation[]): Promise<ReadonlySet<string>> {
    const open = inside(tx);
    await open.statement(`adds invitations ${added.map(({ id }) => id).join(' ')}`);
    const { actor: _actor, ...common } = facts;
    const ids = new Set<string>();
    for (const invitation of added) {
      const { id, email, seatIds } = invitation;
      if (facts.listKey !== null && !(await open.insert(ofList, keyOf(facts, email), { id }))) continue;
      const ends = { status: 'open', reservationId: null, claimedAt: null, createdAt: open.now } as const;
      await open.put(invitations, id, { ...common, ...invitation, ...ends, quantity: seatIds.length });
      ids.add(id);
    }
    return ids;
  }

  async listed(
    list: Pick<ListFacts, 'quotaId' | 'listKey'>,
    emails: readonly string[],
    tx?: Transaction,
  ): Promise<ReadonlyMap<string, string>> {
    if (list.listKey === null || emails.length === 0) return new Map();
    await (tx ? inside(tx).statement('reads a list') : this.db.scheduler.step('reads a list'));
    const read = (key: string) => (tx ? inside(tx).get(ofList, key) : this.db.read(ofList, key));
    return new Map(
      emails.map(addressKey).flatMap((email) => {
        const found = read(keyOf(list, email));
        return found ? [[email, found.id] as const] : [];
      }),
    );
  }

  async addTokens(tx: Transaction, added: ReadonlyMap<string, string>): Promise<void> {
    await inside(tx).statement(`adds the tokens of ${[...added.keys()].join(' ')}`);
    for (const [invitationId, token] of added) await inside(tx).insertNew(tokens, token, { invitationId });
  }

  async lock(tx: Transaction, id: string): Promise<Invitation | undefined> {
    await inside(tx).statement(`locks invitation ${id}`);
    return inside(tx).get(invitations, id) && inside(tx).lock(invitations, id);
  }
}

const keyOf = ({ quotaId, listKey }: Pick<ListFacts, 'quotaId' | 'listKey'>, email: string): string =>
  `${quotaId} ${listKey} ${addressKey(email)}`;

/** Does the same as postgres-claims.ts, statement by statement, on the simulated database. */
export class MemoryClaims implements Claims {
  constructor(private readonly db: SimulatedDatabase) {}

  async lockByToken(tx: Transaction, token: string): Promise<ClaimableInvitation | undefined> {
    const open = inside(tx);
    await open.statement(`locks the invitation of ${token}`);
    const id = open.get(tokens, token)?.invitationId;
    const seen = id === undefined ? undefined : open.get(invitations, id);
    const invitation = seen && (await open.lock(invitations, seen.id));
    const quota = invitation && open.get(quotas, invitation.quotaId);
    if (!quota) return undefined;
    const { name: quotaName, opensAt, claimUntil, returnAt, priceCents } = quota;
    const { matchId, userId, sectorId, seatIds, status, expiresAt, reservationId } = invitation;
    return {
      ...{ id: invitation.id, matchId, userId, sectorId, seatIds, status, expiresAt, reservationId },
      ...{ quotaName, opensAt, claimUntil, returnAt, priceCents },
      isOver: expiresAt.getTime() <= open.now.getTime(),
      isOpenYet: opensAt === null || opensAt.getTime() <= open.now.getTime(),
    };
  }

  async lockOpen(tx: Transaction, ids: readonly string[]): Promise<readonly LockedInvitation[]> {
    const open = inside(tx);
    await open.statement(`locks open invitations ${ids.join(' ')}`);
    const isOpen = ({ status }: Invitation): boolean => status === 'open';
    const locked = await open.lockFree(invitations, ids.toSorted(), isOpen);
    return [...locked.values()].map(({ id, seatIds, reservationId, expiresAt }) => ({
      ...{ id, seatIds, reservationId, isOver: expiresAt.getTime() <= open.now.getTime() },
    }));
  }

  async setClaimed(
    tx: Transaction,
    { id, reservationId }: { readonly id: string; readonly reservationId: string; readonly userId: string },
  ): Promise<void> {
    await inside(tx).statement(`notes that ${id} is claimed`);
    await inside(tx).change(invitations, id, { reservationId, claimedAt: inside(tx).now });
  }

  async setEnded(tx: Transaction, ids: readonly string[], status: 'claimed' | 'expired' | 'withdrawn'): Promise<void> {
    if (ids.length === 0) return;
    await inside(tx).statement(`makes ${ids.join(' ')} ${status}`);
    for (const id of ids) await inside(tx).change(invitations, id, { status });
  }

  async due(except: readonly string[], limit: number): Promise<readonly string[]> {
    const now = this.db.scheduler.nowMs;
    const due = this.db.rows(
      invitations,
      ({ id, status, expiresAt }) => status === 'open' && expiresAt.getTime() <= now && !except.includes(id),
    );
    await this.db.scheduler.step('reads due invitations');
    const byTime = (a: Invitation, b: Invitation): number => a.expiresAt.getTime() - b.expiresAt.getTime();
    return idsOf(due.sort(byTime)).slice(0, limit);
  }

  async openOfCancelledMatches(limit: number): Promise<readonly string[]> {
    const isCancelled = (matchId: string): boolean => this.db.read(tables.matches, matchId)?.cancelledAt !== undefined;
    const open = this.db.rows(invitations, ({ status, matchId }) => status === 'open' && isCancelled(matchId));
    await this.db.scheduler.step('reads open invitations of cancelled matches');
    return idsOf(open).slice(0, limit);
  }
}

const idsOf = (rows: readonly Invitation[]): string[] => rows.map(({ id }) => id);
