import type { Transaction } from '#application/transaction-manager';
import { inside } from '#platform/postgres/transaction';
import type { DataSource } from 'typeorm';
import { Fans, type Profile } from '../application/ports.ts';

export class PostgresFans extends Fans {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async find(userId: string): Promise<Profile | undefined> {
    const rows = await this.dataSource.query<Profile[]>(`select email, name, locale from fans where user_id = $1`, [userId]);
    return rows[0];
  }

  async save(tx: Transaction, userId: string, { email, name, locale }: Profile): Promise<void> {
    await inside(tx).rows(
      `insert into fans (user_id, email, name, locale) values ($1, $2, $3, $4)
       on conflict (user_id) do update set email = excluded.email, name = excluded.name, locale = excluded.locale, updated_at = now()`,
      [userId, email, name, locale],
    );
  }
}
