import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LateErasures, type LateErasure } from './fans.api.ts';

/** Late by far: the retention job finishes an erasing within a minute. */
const LATE_ERASURES = `
  select id from erasures where done_at is null and requested_at < now() - interval '10 minutes' order by requested_at limit 100`;

@Injectable()
export class PostgresLateErasures extends LateErasures {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async find(): Promise<LateErasure[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(LATE_ERASURES);
    return rows.map(({ id }) => ({
      about: 'erasing of fans',
      text: 'a fan has waited for 10 minutes to be erased: is the retention job running? `retention:status` shows who waits',
      subject: `erasure:${id}`,
    }));
  }
}
