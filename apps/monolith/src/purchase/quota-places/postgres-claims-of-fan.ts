import { runUnprepared } from '#platform/postgres/database';
import { namedSql } from '#platform/postgres/named-sql';
import type { DataSource } from 'typeorm';
import type { ClaimOfFan, ClaimsOfFan } from '../claims-of-fan.api.ts';

/** The index `reservations_by_fan` has every reservation of an invitation. */
const CLAIMS_OF_FAN = namedSql<{ readonly userId: string; readonly before: string | null; readonly limit: number }>(
  'claims-of-fan',
  `
  select id, invitation_id as "invitationId" from reservations
  where user_id = :userId and invitation_id is not null and (:before::uuid is null or id < :before)
  order by id desc limit :limit`,
);

/** Claims in the table `reservations`. */
export class PostgresClaimsOfFan implements ClaimsOfFan {
  constructor(private readonly dataSource: DataSource) {}

  page(userId: string, before: string | undefined, limit: number): Promise<readonly ClaimOfFan[]> {
    return runUnprepared<ClaimOfFan[]>(this.dataSource, CLAIMS_OF_FAN.with({ userId, before: before ?? null, limit }));
  }
}
