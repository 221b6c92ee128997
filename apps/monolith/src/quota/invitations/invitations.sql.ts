import { namedSql } from '#platform/postgres/named-sql';

/** The columns of an invitation, as the properties of `Invitation`. */
const invitationColumns = (i: string): string => `
  ${i}.id, ${i}.match_id as "matchId", ${i}.quota_id as "quotaId", ${i}.list_key as "listKey", ${i}.email, ${i}.name,
  ${i}.user_id as "userId", ${i}.locale, ${i}.sector_id as "sectorId", ${i}.seat_ids as "seatIds", ${i}.quantity, ${i}.note, ${i}.status,
  ${i}.expires_at as "expiresAt", ${i}.reservation_id as "reservationId", ${i}.claimed_at as "claimedAt", ${i}.created_at as "createdAt"`;

/**
 * Adds the invitations of a list and returns the ids of those that were added. An address that the list has invited before is left
 * out. A list that another transaction has added meanwhile is a serialization conflict: the new attempt sees its rows.
 */
export const INSERT_INVITATIONS = namedSql<{ readonly facts: string; readonly invitations: string }>(
  'insert-invitations',
  `
  insert into invitations (id, match_id, quota_id, list_key, email, name, user_id, locale, sector_id, seat_ids, quantity, note, expires_at,
                           given_end, created_by)
  select i.id, f."matchId", f."quotaId", f."listKey", i.email, i.name, i."userId", i.locale, i."sectorId", i."seatIds",
         cardinality(i."seatIds"), i.note, f."expiresAt", f."givenEnd", f.actor
  from jsonb_to_record(:facts::jsonb) as f("matchId" uuid, "quotaId" uuid, "listKey" text, "expiresAt" timestamptz, "givenEnd" timestamptz, actor text),
       jsonb_to_recordset(:invitations::jsonb)
         as i(id uuid, email text, name text, "userId" uuid, locale text, "sectorId" uuid, "seatIds" uuid[], note text)
  on conflict (quota_id, list_key, lower(email)) where list_key is not null do nothing
  returning id`,
);

/** The invitations of a list to these addresses, which are in lower case. */
export const LISTED_INVITATIONS = namedSql<{
  readonly quotaId: string;
  readonly listKey: string;
  readonly emails: readonly string[];
}>(
  'listed-invitations',
  `
  select id, lower(email) as email from invitations
  where quota_id = :quotaId and list_key = :listKey and lower(email) = any(:emails::text[])`,
);

/** `hashes`: a JSON object, invitation id → SHA-256 of its token. */
export const ADD_TOKENS = namedSql<{ readonly hashes: string }>(
  'add-invitation-tokens',
  `
  insert into invitation_tokens (token_hash, invitation_id)
  select decode(value, 'hex'), key::uuid from jsonb_each_text(:hashes::jsonb)`,
);

export const DELETE_TOKENS = namedSql<{ readonly id: string }>(
  'delete-invitation-tokens',
  `delete from invitation_tokens where invitation_id = :id`,
);

/** Locks an invitation against claims, its end and another resend. */
export const LOCK_INVITATION = namedSql<{ readonly id: string }>(
  'lock-invitation',
  `select ${invitationColumns('i')} from invitations i where i.id = :id for update`,
);

export const FIND_INVITATION = `select ${invitationColumns('i')} from invitations i where i.id = $1`;

/** Newest first: the ids of newer invitations are greater. */
export const PAGE_OF_QUOTA = `
  select ${invitationColumns('i')} from invitations i
  where i.quota_id = $1 and ($2::uuid is null or i.id < $2) order by i.id desc limit $3`;
