import type { CallerIdentity } from '#platform/http/caller';
import type { FansApi } from '../fans/fans.api.ts';
import type { FanWithAddress } from '../ticketing/ticket-offers.api.ts';

/** The address that proves that an offer by e-mail belongs to a caller. */
export class CallerAddress {
  constructor(private readonly fans: FansApi) {}

  async of(caller: Pick<CallerIdentity, 'userId' | 'verifiedEmail'>): Promise<FanWithAddress> {
    return { userId: caller.userId, email: await this.fans.ownAddress(caller) };
  }
}
