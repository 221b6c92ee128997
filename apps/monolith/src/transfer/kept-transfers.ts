import { inPages, type KeptAboutFans } from '../fans/kept-about-fans.api.ts';
import type { TicketOffers } from '../ticketing/ticket-offers.api.ts';
import type { CallerAddress } from './caller-address.ts';
import { offerView } from './offer-view.ts';

/** Adds the offers that a fan made or got to the export of the fan, as `GET /transfers` answers them. */
export class KeptTransfers {
  constructor(kept: KeptAboutFans, offers: TicketOffers, addresses: CallerAddress) {
    kept.add('transfers', async function* (caller) {
      const fan = await addresses.of(caller);
      yield* inPages(
        (after, limit) => offers.ofFan(fan, { limit, after }),
        (rows) => rows.map((offer) => offerView(offer, caller.userId)),
      );
    });
  }
}
