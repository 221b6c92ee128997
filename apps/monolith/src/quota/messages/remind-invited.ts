import type { TransactionManager } from '#application/transaction-manager';
import type { CatalogMatch, CatalogSector } from '#domain/catalog/match';
import type { CatalogApi } from '../../catalog/catalog.api.ts';
import type { QuotaPlacesApi } from '../../purchase/quota-places.api.ts';
import type { PostgresInvitations } from '../invitations/postgres-invitations.ts';
import { priceOf } from '../tree/quota.ts';
import type { InvitationMessages, InvitationToSend } from './invitation-messages.ts';
import { newInvitationToken } from './invitation-token.ts';
import type { DueReminder, PostgresReminders, ReminderFacts } from './postgres-reminders.ts';

/** A transaction with so many mails takes some milliseconds. It locks its invitations for this time, and a claim waits for that. */
const INVITATIONS_A_TRANSACTION = 100;
const INVITATIONS_A_READ = 1000;

/**
 * Reminds invited people a day before their invitation ends, if nobody holds or has bought its places. Every replica may do this at
 * the same time: the mark of the invitation, its new token and the messages commit together, so each is reminded once.
 */
export class RemindInvited {
  constructor(
    private readonly transactions: TransactionManager,
    private readonly catalog: CatalogApi,
    private readonly places: QuotaPlacesApi,
    private readonly reminders: PostgresReminders,
    private readonly invitations: PostgresInvitations,
    private readonly messages: InvitationMessages,
  ) {}

  /** Returns the number of invitations that this call has reminded of. */
  async execute(): Promise<number> {
    let reminded = 0;
    let page: readonly DueReminder[];
    let after: string | undefined;
    do {
      page = await this.reminders.due({ after, limit: INVITATIONS_A_READ });
      after = page.at(-1)?.id;
      for (const [matchId, due] of byMatch(await this.unclaimed(page)))
        for (let from = 0; from < due.length; from += INVITATIONS_A_TRANSACTION)
          reminded += await this.remind(matchId, due.slice(from, from + INVITATIONS_A_TRANSACTION));
    } while (page.length === INVITATIONS_A_READ);
    return reminded;
  }

  /** Those of the invitations that no fan holds or has bought places of. */
  private async unclaimed(due: readonly DueReminder[]): Promise<readonly DueReminder[]> {
    const states = await this.places.claimStates(due.flatMap(({ reservationId }) => reservationId ?? []));
    return due.filter(({ reservationId }) => {
      const state = reservationId === null ? undefined : states.get(reservationId);
      return state !== 'held' && state !== 'paid';
    });
  }

  private async remind(matchId: string, due: readonly DueReminder[]): Promise<number> {
    const sectors = await this.catalog.sectors(matchId);
    return this.transactions.run(async (tx) => {
      const match = await this.catalog.match(matchId, tx);
      if (!match || !canBeClaimed(match)) return 0;
      const invitations = (await this.reminders.lockDue(tx, due)).map((facts) => toSend(facts, sectors));
      if (invitations.length === 0) return 0;
      await this.reminders.markReminded(
        tx,
        invitations.map(({ id }) => id),
      );
      // A second token: the link of the first mail goes on working.
      await this.invitations.addTokens(tx, new Map(invitations.map(({ id, token }) => [id, token])));
      await this.messages.remind(tx, match, invitations);
      return invitations.length;
    });
  }
}

/** Nobody can claim an invitation in a closed sale. A cancelled match withdraws its invitations. */
const canBeClaimed = ({ cancelledAt, saleStatus }: CatalogMatch): boolean => cancelledAt === null && saleStatus !== 'closed';

function toSend({ sectorId, priceCents, ...facts }: ReminderFacts, sectors: readonly CatalogSector[]): InvitationToSend {
  const sector = sectors.find(({ id }) => id === sectorId);
  if (!sector) throw new Error(`invitation ${facts.id} is for a sector that its match does not have`);
  return { ...facts, totalCents: facts.quantity * priceOf({ priceCents }, sector), token: newInvitationToken() };
}

function byMatch(due: readonly DueReminder[]): ReadonlyMap<string, readonly DueReminder[]> {
  const groups = new Map<string, DueReminder[]>();
  for (const reminder of due) groups.set(reminder.matchId, [...(groups.get(reminder.matchId) ?? []), reminder]);
  return groups;
}
