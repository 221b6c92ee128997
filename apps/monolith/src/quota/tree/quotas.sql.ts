import { namedSql } from '#platform/postgres/named-sql';

/** The columns of a quota, as the properties of `Quota`. */
export const quotaColumns = (q: string): string => `
  ${q}.id, ${q}.match_id as "matchId", ${q}.parent_id as "parentId", ${q}.depth, ${q}.name, ${q}.kind, ${q}.members,
  ${q}.contact_email as "contactEmail", ${q}.opens_at as "opensAt", ${q}.claim_until as "claimUntil", ${q}.return_at as "returnAt",
  ${q}.on_return as "onReturn", ${q}.never_to as "neverTo", ${q}.price_cents as "priceCents",
  ${q}.max_per_invitation as "maxPerInvitation", ${q}.status, ${q}.returned_at as "returnedAt", ${q}.created_at as "createdAt"`;

export const INSERT_QUOTA = namedSql<{ readonly quota: string }>(
  'insert-quota',
  `
  insert into quotas as q (id, match_id, parent_id, depth, name, kind, members, contact_email, opens_at, claim_until, return_at, on_return,
                           never_to, price_cents, max_per_invitation)
  select id, "matchId", "parentId", depth, name, kind, members, "contactEmail", "opensAt", "claimUntil", "returnAt", "onReturn",
         "neverTo", "priceCents", "maxPerInvitation"
  from jsonb_to_record(:quota::jsonb)
    as n(id uuid, "matchId" uuid, "parentId" uuid, depth integer, name text, kind text, members uuid[], "contactEmail" text,
         "opensAt" timestamptz, "claimUntil" timestamptz, "returnAt" timestamptz, "onReturn" text, "neverTo" text[],
         "priceCents" jsonb, "maxPerInvitation" integer)
  returning ${quotaColumns('q')}`,
);

/** Replaces all settings of a quota. */
export const UPDATE_QUOTA = namedSql<{ readonly id: string; readonly settings: string }>(
  'update-quota',
  `
  update quotas q
  set name = n.name, members = n.members, contact_email = n."contactEmail", opens_at = n."opensAt", claim_until = n."claimUntil",
      return_at = n."returnAt", on_return = n."onReturn", never_to = n."neverTo", price_cents = n."priceCents",
      max_per_invitation = n."maxPerInvitation"
  from jsonb_to_record(:settings::jsonb)
    as n(name text, members uuid[], "contactEmail" text, "opensAt" timestamptz, "claimUntil" timestamptz, "returnAt" timestamptz,
         "onReturn" text, "neverTo" text[], "priceCents" jsonb, "maxPerInvitation" integer)
  where q.id = :id
  returning ${quotaColumns('q')}`,
);

/** Locks a quota against its return and against changes. */
export const LOCK_QUOTA = namedSql<{ readonly id: string }>(
  'lock-quota',
  `select ${quotaColumns('q')} from quotas q where q.id = :id for update`,
);

/**
 * One return at a time. Returns that run at once are serialization conflicts with each other: a new status is an entry in each index of
 * the table, on pages that the others have read. 20 returns took 0.3 s one after the other and 1.7 s four at once.
 */
export const TRY_RETURN_LOCK = `select pg_try_advisory_xact_lock(hashtext('return of quotas')) as "isLocked"`;

/** Locks a quota whose return is due. No row if it is returned, not due any more, or another process returns it now. */
export const LOCK_DUE_QUOTA = namedSql<{ readonly id: string }>(
  'lock-due-quota',
  `
  select ${quotaColumns('q')} from quotas q
  where q.id = :id and q.status = 'open' and q.return_at <= clock_timestamp()
  for update skip locked`,
);

/** Locks a returned quota, unless another process has locked it. */
export const LOCK_RETURNED_QUOTA = namedSql<{ readonly id: string }>(
  'lock-returned-quota',
  `select ${quotaColumns('q')} from quotas q where q.id = :id and q.status = 'returned' for update skip locked`,
);

export const MARK_RETURNED = namedSql<{ readonly id: string }>(
  'mark-quota-returned',
  `update quotas set status = 'returned', returned_at = clock_timestamp() where id = :id`,
);

/** A quota and its ancestors, the root last. */
export const CHAIN = namedSql<{ readonly id: string }>(
  'chain-of-quota',
  `
  with recursive chain as (
    select * from quotas where id = :id
    union all
    select p.* from quotas p join chain on p.id = chain.parent_id
  )
  select ${quotaColumns('chain')} from chain order by depth desc`,
);

/** A page of the quotas that a partner may see: those that name the partner, and their descendants. Null: of all partners. */
export const PAGE_OF_MEMBER = `
  with recursive mine as (
    select id from quotas where $1::uuid is null or members @> array[$1::uuid]
    union
    select c.id from quotas c join mine on c.parent_id = mine.id
  )
  select ${quotaColumns('q')} from quotas q join mine using (id)
  where $2::uuid is null or q.id > $2 order by q.id limit $3`;

export const PAGE_OF_MATCH = `
  select ${quotaColumns('q')} from quotas q where q.match_id = $1 and ($2::uuid is null or q.id > $2) order by q.id limit $3`;

export const OPEN_OF_MATCH = namedSql<{ readonly matchId: string }>(
  'open-quotas-of-match',
  `select ${quotaColumns('q')} from quotas q where q.match_id = :matchId and q.status = 'open' order by q.id`,
);

/** A quota, if it or one of its ancestors names the partner. */
export const OF_MEMBER = `
  with recursive chain as (
    select id, parent_id, members from quotas where id = $1
    union all
    select p.id, p.parent_id, p.members from quotas p join chain on p.id = chain.parent_id
  )
  select ${quotaColumns('q')} from quotas q
  where q.id = $1 and ($2::uuid is null or exists (select 1 from chain where members @> array[$2::uuid]))`;

/** Each of the quotas `$1` with itself and all its descendants. */
export const SUBTREES = `
  with recursive below as (
    select id as root, id from quotas where id = any($1::uuid[])
    union all
    select below.root, c.id from quotas c join below on c.parent_id = below.id
  )
  select root, id from below`;

/** The quotas whose return is due, those at the bottom of the tree first: their parents return what they got from them too. */
export const DUE_QUOTAS = `
  select id, match_id as "matchId" from quotas
  where status = 'open' and return_at <= clock_timestamp() order by return_at, depth desc, id limit $1`;

/** Returned quotas whose places follow `on_return` when they become free, of matches that have not begun. */
export const RETURNED_QUOTAS = `
  select q.id, q.match_id as "matchId" from quotas q join matches m on m.id = q.match_id
  where q.status = 'returned' and q.on_return <> 'keep' and m.kickoff_at > now() order by q.depth desc, q.id`;
