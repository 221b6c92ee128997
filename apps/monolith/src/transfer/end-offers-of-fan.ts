import type { AskingFan, ErasableWithFans } from '../fans/kept-about-fans.api.ts';
import type { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import type { CallerAddress } from './caller-address.ts';
import type { EndOffers } from './end-offers.ts';
import { isReceiver } from './offer-rules.ts';

/** Offers that are read at once. */
const PAGE_SIZE = 100;

/** Ends the open offers of a fan who erases everything: those to the fan are declined, those of the fan withdrawn. */
export class EndOffersOfFan {
  constructor(
    erasable: ErasableWithFans,
    private readonly offers: TicketOffers,
    private readonly addresses: CallerAddress,
    private readonly endOffers: EndOffers,
  ) {
    erasable.add({ end: (fan) => this.end(fan) });
  }

  private async end(fan: AskingFan): Promise<void> {
    const caller = await this.addresses.of(fan);
    for (let after: string | undefined; ;) {
      const page = await this.offers.ofFan(caller, { limit: PAGE_SIZE, after });
      for (const offer of page.filter(({ status }) => status === 'offered')) {
        if (isReceiver(offer, caller)) await this.endOffers.decline(offer.id, caller);
        else await this.endOffers.withdraw(offer.id, caller.userId);
      }
      if (page.length < PAGE_SIZE) return;
      after = page.at(-1)?.id;
    }
  }
}
