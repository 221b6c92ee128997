import type { TransactionManager } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import type { Locale } from './fans.api.ts';

/** What a fan has stored: e-mail address, name and language. */
export interface Profile {
  readonly email: string | null;
  readonly name: string | null;
  readonly locale: Locale;
}

/** The profile of a fan who has not stored one. The default language is Croatian. */
export const emptyProfile: Profile = { email: null, name: null, locale: 'hr' };

/** The stored profiles of fans. */
export class Profiles {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: TransactionManager,
  ) {}

  async find(userId: string): Promise<Profile> {
    const rows = await this.dataSource.query<Profile[]>(`select email, name, locale from fans where user_id = $1`, [userId]);
    return rows[0] ?? emptyProfile;
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
}
