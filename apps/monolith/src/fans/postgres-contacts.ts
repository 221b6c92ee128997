import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { emptyProfile } from './profiles.ts';
import { FansApi, type FanContact, type Locale } from './fans.api.ts';

/** Reads the languages, addresses and devices of fans from PostgreSQL. */
export class PostgresContacts extends FansApi {
  async contacts(tx: Transaction, userIds: readonly string[]): Promise<ReadonlyMap<string, FanContact>> {
    const rows = await inside(tx).rows<{ userId: string; locale: Locale | null; email: string | null; fcmTokens: string[] }>(
      `select given.user_id as "userId", fans.locale, fans.email,
         array(select fcm_token from devices where devices.user_id = given.user_id order by updated_at desc, device_id) as "fcmTokens"
       from (select distinct unnest($1::uuid[]) as user_id) given left join fans on fans.user_id = given.user_id`,
      [userIds],
    );
    return new Map(
      rows.map(({ userId, locale, email, fcmTokens }) => [
        userId,
        { userId, locale: locale ?? emptyProfile.locale, email, fcmTokens },
      ]),
    );
  }
}
