import { TransactionManager, type Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { MonolithConfig } from '../config.ts';
import { CONFIG } from '../tokens.ts';
import { FansApi, type FanContact, type Locale } from './fans.api.ts';

/** What a fan has stored: e-mail address, name and language. */
export interface Profile {
  readonly email: string | null;
  readonly name: string | null;
  readonly locale: Locale;
}

/** The profile of a fan who has not stored one. The default language is Croatian. */
const emptyProfile: Profile = { email: null, name: null, locale: 'hr' };

/** The stored profiles of fans, and how to reach these fans. */
@Injectable()
export class Profiles extends FansApi {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
    @Inject(CONFIG) private readonly config: Pick<MonolithConfig, 'PUSH_PROVIDER' | 'AUTH_MODE'>,
  ) {
    super();
  }

  async find(userId: string): Promise<Profile> {
    const rows = await this.dataSource.query<Profile[]>(`select email, name, locale from fans where user_id = $1`, [userId]);
    return rows[0] ?? emptyProfile;
  }

  async ownAddress({ userId, verifiedEmail = '' }: { userId: string; verifiedEmail?: string }): Promise<string | null> {
    if (this.config.AUTH_MODE === 'jwt') return verifiedEmail || null;
    return (await this.find(userId)).email;
  }

  async isKnown(tx: Transaction, userId: string): Promise<boolean> {
    const known = `select from fans where user_id = $1 union all select from devices where user_id = $1 limit 1`;
    return (await inside(tx).rows(known, [userId])).length > 0;
  }

  /** Replaces the whole profile of a fan. */
  replace(userId: string, profile: Profile): Promise<Profile> {
    const { email, name, locale } = profile;
    return this.transactions.run(async (tx) => {
      await inside(tx).rows(
        `insert into fans (user_id, email, name, locale) values ($1, $2, $3, $4)
         on conflict (user_id) do update set email = excluded.email, name = excluded.name, locale = excluded.locale, updated_at = now()`,
        [userId, email, name, locale],
      );
      return profile;
    });
  }

  async contacts(tx: Transaction, userIds: readonly string[]): Promise<ReadonlyMap<string, FanContact>> {
    const rows = await inside(tx).rows<{ userId: string; locale: Locale | null; email: string | null; fcmTokens: string[] }>(
      `select given.user_id as "userId", fans.locale, fans.email,
         array(select fcm_token from devices where devices.user_id = given.user_id order by updated_at desc, device_id) as "fcmTokens"
       from (select distinct unnest($1::uuid[]) as user_id) given left join fans on fans.user_id = given.user_id`,
      [userIds],
    );
    const hasPushes = this.config.PUSH_PROVIDER !== 'none';
    return new Map(
      rows.map(({ userId, locale, email, fcmTokens }) => [
        userId,
        { userId, locale: locale ?? emptyProfile.locale, email, fcmTokens: hasPushes ? fcmTokens : [] },
      ]),
    );
  }
}
