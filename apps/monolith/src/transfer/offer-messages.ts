import type { Clock } from '#application/clock';
import type { Ids } from '#application/ids';
import type { Outbox, OutboxMessage } from '#application/outbox';
import type { Transaction } from '#application/transaction-manager';
import type { EmailJob, PushJob } from '#contracts/queue-jobs';
import { writePush } from '#domain/notification/push-templates';
import type { CatalogMatch } from '../catalog/catalog.api.ts';
import type { FanContact, FansApi, Locale } from '../fans/fans.api.ts';
import type { PurchaseApi } from '../purchase/purchase.api.ts';
import type { TicketOffer, TicketOffers } from '../ticketing/ticket-offers.api.ts';

/** The event of each end of an offer of which the giver is told. */
const endEvents = { accepted: 'ticket.transferred', declined: 'transfer.declined', expired: 'transfer.expired' } as const;

/** Match and giver, as `giverKey` writes them → the address to which the tickets of the match were sent. */
export type Givers = ReadonlyMap<string, string>;

/**
 * The most mails in 24 hours about the offers of one fan, to one address and to all. The addresses are what a fan types, so without
 * a limit two accounts could fill any mailbox. Further offers stand and are shown on the page, but send no mail.
 */
const MAX_MAILS_TO_ONE_ADDRESS = 5;
const MAX_MAILS_TO_ALL = 30;

/**
 * Writes the messages about offers to the outbox. The texts contain nothing that a fan has typed, so nobody can send words of their
 * own to a stranger in our name.
 */
export class OfferMessages {
  constructor(
    private readonly fans: FansApi,
    private readonly purchase: PurchaseApi,
    private readonly offers: TicketOffers,
    private readonly outbox: Outbox,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Tells the receiver. A fan gets a mail to the address of the profile and a push; an address gets a mail. The accounts that have
   * this address are not searched, because nobody has checked the addresses in profiles.
   */
  async offered(tx: Transaction, offer: TicketOffer, match: CatalogMatch): Promise<void> {
    const { toUserId, toEmail, fromUserId } = offer;
    const contacts = await this.fans.contacts(tx, [fromUserId, ...(toUserId ? [toUserId] : [])]);
    const receiver = toUserId ? contacts.get(toUserId) : undefined;
    const recipient = toEmail ?? receiver?.email;
    const locale = (receiver ?? contacts.get(fromUserId))?.locale ?? 'hr';
    const messages: OutboxMessage[] = [];
    if (recipient && (toEmail === null || (await this.mayMail(tx, fromUserId, toEmail)))) {
      const payload = { ...matchFields(match, locale), ticket: seatFields(offer), expires_at: offer.expiresAt.toISOString() };
      messages.push(this.mail('transfer.offered', offer, recipient, { template: 'transfer_offer', payload }));
    }
    if (receiver && receiver.fcmTokens.length > 0) messages.push(this.push(offer, match, receiver));
    await this.outbox.append(tx, messages);
  }

  /** Tells the giver that the offer was accepted, declined, or ended by itself. */
  async ended(tx: Transaction, offer: TicketOffer, match: CatalogMatch, givers: Givers): Promise<void> {
    const outcome = offer.status;
    if (outcome === 'offered' || outcome === 'withdrawn') return;
    const giver = (await this.fans.contacts(tx, [offer.fromUserId])).get(offer.fromUserId);
    const recipient = givers.get(giverKey(offer)) ?? giver?.email;
    if (!recipient) return;
    const payload = { ...matchFields(match, giver?.locale ?? 'hr'), ticket: seatFields(offer), outcome };
    await this.outbox.append(tx, [
      this.mail(endEvents[outcome], offer, recipient, { template: 'transfer_answer', payload }, { user_id: offer.fromUserId }),
    ]);
  }

  /** The addresses of the givers of these offers, for `ended`. Call it before the transaction. */
  async giversOf(offers: readonly Pick<TicketOffer, 'matchId' | 'fromUserId'>[]): Promise<Givers> {
    const found = new Map<string, string>();
    for (const matchId of new Set(offers.map((offer) => offer.matchId))) {
      const userIds = offers.filter((offer) => offer.matchId === matchId).map(({ fromUserId }) => fromUserId);
      for (const [fromUserId, address] of await this.purchase.addresses(matchId, userIds))
        found.set(giverKey({ matchId, fromUserId }), address);
    }
    return found;
  }

  /** The offer itself is counted already. */
  private async mayMail(tx: Transaction, userId: string, email: string): Promise<boolean> {
    const { same, all } = await this.offers.countToAddresses(tx, userId, email);
    return same <= MAX_MAILS_TO_ONE_ADDRESS && all <= MAX_MAILS_TO_ALL;
  }

  private mail(
    event: string,
    offer: TicketOffer,
    recipient: string,
    content: Pick<EmailJob, 'template' | 'payload'>,
    to: { user_id?: string } = offer.toUserId ? { user_id: offer.toUserId } : {},
  ): OutboxMessage {
    const envelope = this.envelope(offer);
    const useful = content.template === 'transfer_offer' ? { useful_until: offer.expiresAt.toISOString() } : {};
    const body = { ...envelope, type: 'email', ...content, recipient, ...to, ...useful };
    return { id: envelope.job_id, destination: 'email', event, aggregateId: offer.id, body };
  }

  private push(offer: TicketOffer, match: CatalogMatch, receiver: FanContact): OutboxMessage {
    const envelope = this.envelope(offer);
    const content = { template: 'transfer_offer', match_name: nameOf(match) } as const;
    const body: PushJob = {
      ...envelope,
      type: 'push',
      template: 'transfer_offer',
      user_id: receiver.userId,
      fcm_tokens: [...receiver.fcmTokens],
      payload: {
        ...writePush(content, receiver.locale),
        data: { match_id: match.id, transfer_id: offer.id, action: 'open_transfers' },
      },
      priority: 'normal',
      useful_until: offer.expiresAt.toISOString(),
    };
    return { id: envelope.job_id, destination: 'push', event: 'transfer.offered', aggregateId: offer.id, body };
  }

  private envelope(offer: TicketOffer) {
    return {
      job_id: this.ids.next(),
      created_at: this.clock.now().toISOString(),
      attempts: 0 as const,
      max_attempts: 3 as const,
      about: { match_id: offer.matchId, transfer_id: offer.id },
    };
  }
}

const giverKey = ({ matchId, fromUserId }: Pick<TicketOffer, 'matchId' | 'fromUserId'>): string => `${matchId} ${fromUserId}`;

const nameOf = ({ home, away }: CatalogMatch): string => `${home} vs ${away}`;

const matchFields = (match: CatalogMatch, locale: Locale) => ({
  match_name: nameOf(match),
  kickoff_at: match.kickoffAt.toISOString(),
  venue: match.venue,
  locale,
});

const seatFields = ({ sector, row, number }: Pick<TicketOffer, 'sector' | 'row' | 'number'>) => ({
  sector,
  row,
  seat: number === null ? null : String(number),
});
