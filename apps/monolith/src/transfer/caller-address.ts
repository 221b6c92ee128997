import type { CallerIdentity } from '#platform/http/caller';
import type { MonolithConfig } from '../config.ts';
import type { FansApi } from '../fans/fans.api.ts';
import type { FanWithAddress } from '../ticketing/ticket-offers.api.ts';

/**
 * The address that proves that an offer by e-mail belongs to a caller. With AUTH_MODE=jwt it is the one that the identity provider
 * has verified: anybody can write any address into a profile, and would get the tickets of others. With AUTH_MODE=mock, where
 * nothing is verified, it is the address in the profile.
 */
export class CallerAddress {
  constructor(
    private readonly fans: FansApi,
    private readonly config: Pick<MonolithConfig, 'AUTH_MODE'>,
  ) {}

  async of({ userId, verifiedEmail }: Pick<CallerIdentity, 'userId' | 'verifiedEmail'>): Promise<FanWithAddress> {
    if (this.config.AUTH_MODE === 'jwt') return { userId, email: verifiedEmail ?? null };
    return { userId, email: (await this.fans.find(userId)).email };
  }
}
