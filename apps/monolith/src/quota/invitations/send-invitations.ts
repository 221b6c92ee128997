import type { Transaction } from '#application/transaction-manager';
import type { CatalogMatch, CatalogSector } from '../../catalog/catalog.api.ts';
import type { InvitationMessages } from '../messages/invitation-messages.ts';
import { newInvitationToken } from '../messages/invitation-token.ts';
import { priceOf, type Quota } from '../tree/quota.ts';
import type { Invitation, PostgresInvitations } from './postgres-invitations.ts';

/** The invitations to send, all of one quota. */
export interface InvitationsToSend {
  readonly quota: Pick<Quota, 'name' | 'priceCents'>;
  readonly match: CatalogMatch;
  readonly sectors: readonly Pick<CatalogSector, 'id' | 'priceCents'>[];
  readonly invitations: readonly Pick<
    Invitation,
    'id' | 'email' | 'name' | 'userId' | 'locale' | 'sectorId' | 'seatIds' | 'expiresAt'
  >[];
}

/** Gives each invitation a new token and writes its mail. */
export class SendInvitations {
  constructor(
    private readonly invitations: PostgresInvitations,
    private readonly messages: InvitationMessages,
  ) {}

  async execute(tx: Transaction, { quota, match, sectors, invitations }: InvitationsToSend): Promise<void> {
    const prices = new Map(sectors.map((sector) => [sector.id, priceOf(quota, sector)]));
    const mails = invitations.map(({ id, email, name, userId, locale, sectorId, seatIds: { length }, expiresAt }) => ({
      ...{ id, email, name, userId, locale, quantity: length, totalCents: length * prices.get(sectorId)! },
      ...{ quotaName: quota.name, claimUntil: expiresAt, token: newInvitationToken() },
    }));
    await this.invitations.addTokens(tx, new Map(mails.map(({ id, token }) => [id, token])));
    await this.messages.send(tx, match, mails);
  }
}
