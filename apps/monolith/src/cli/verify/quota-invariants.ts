import { AS_OF, isLivingHold, ofMatch, type Invariant } from './invariant.ts';

const PURCHASE_OF_INVITATION = `select from reservations r where r.invitation_id = i.id and r.status = 'completed'`;

/** Invariants: every place has one owner, who is the one in the ledger, and is bound to something that lives. */
export const quotaInvariants: readonly Invariant[] = [
  {
    name: 'quota-ledger',
    sentence: 'every place belongs to the target of its last move, and every move took it from the owner it had',
    sql: `
      with steps as (
        select p.id, m.id as move_id, m.from_quota, m.to_quota, m.seq,
               lag(m.to_quota) over places as owner_before, row_number() over places as nth, count(*) over (partition by p.id) as n
        from quota_moves m cross join unnest(m.seat_ids) as p(id) where ${ofMatch('m.match_id')}
        window places as (partition by p.id order by m.seq)
      )
      select coalesce(steps.id, s.id) as seat_id, steps.move_id, s.quota_id,
             case when steps.id is null then 'belongs to a quota, but no move has given it to one'
                  when steps.from_quota is distinct from steps.owner_before then 'moved from an owner that did not have it'
                  when steps.nth = steps.n and s.quota_id is distinct from steps.to_quota
                    then 'does not belong to the target of its last move' end as problem
      from steps full join (select id, quota_id from seats where quota_id is not null and ${ofMatch('match_id')}) s on s.id = steps.id`,
  },
  {
    // An invitation that has ended after a purchase keeps its sold places. The 5 minutes allow for the task that ends them.
    name: 'bound-places',
    sentence: 'every bound place is bound to a living invitation or pending move of its quota that lists it',
    sql: `
      select s.id as seat_id, s.quota_id, s.bound_to,
             case when i.id is null and r.id is null then 'bound to nothing that exists'
                  when s.quota_id <> coalesce(i.quota_id, r.from_quota) then 'bound to an invitation or a move of another quota'
                  when not s.id = any(coalesce(i.seat_ids, r.seat_ids)) then 'bound to an invitation or a move that does not list it'
                  when s.status = 'sold' then null
                  when i.status <> 'open' then 'bound to an invitation that is ' || i.status
                  when r.status <> 'pending' then 'bound to a move that is ' || r.status
                  when coalesce(i.expires_at, r.expires_at) <= ${AS_OF} - interval '5 minutes' and s.status <> 'held'
                    then 'bound to an invitation or a move that has expired' end as problem
      from seats s left join invitations i on i.id = s.bound_to left join quota_move_requests r on r.id = s.bound_to
      where s.bound_to is not null and ${ofMatch('s.match_id')}`,
  },
  {
    name: 'pending-moves',
    sentence: 'every place of a pending move is bound to it',
    sql: `
      select r.id as move_id, p.id as seat_id,
             case when s.bound_to is distinct from r.id then 'listed by a pending move, but not bound to it' end as problem
      from quota_move_requests r cross join unnest(r.seat_ids) as p(id) left join seats s on s.id = p.id
      where r.status = 'pending' and ${ofMatch('r.match_id')}`,
  },
  {
    // The places of refunded tickets are bound to nothing, or to another invitation.
    name: 'invited-places',
    sentence: 'every place of an open invitation that nobody has bought is bound to it',
    sql: `
      select i.id as invitation_id, p.id as seat_id,
             case when s.bound_to is distinct from i.id and not exists (${PURCHASE_OF_INVITATION})
                    then 'listed by an open invitation, but not bound to it' end as problem
      from invitations i cross join unnest(i.seat_ids) as p(id) left join seats s on s.id = p.id
      where i.status = 'open' and ${ofMatch('i.match_id')}`,
  },
  {
    // The 5 minutes allow for the task that ends them.
    name: 'invitation-ends',
    sentence:
      'every invitation that has ended is claimed if its places were bought, and only then; none is open in a cancelled match',
    sql: `
      select i.id as invitation_id, i.status,
             case when i.status = 'claimed' and not exists (${PURCHASE_OF_INVITATION}) then 'claimed, but nobody has bought its places'
                  when i.status in ('expired', 'withdrawn') and exists (${PURCHASE_OF_INVITATION}) then 'its places were bought'
                  when i.status in ('expired', 'withdrawn') and exists (
                         select from reservations r where r.invitation_id = i.id and ${isLivingHold('r')}) then 'a fan holds its places'
                  when i.status = 'open' and m.cancelled_at <= ${AS_OF} - interval '5 minutes'
                    then 'open, but its match was cancelled' end as problem
      from invitations i left join matches m on m.id = i.match_id where ${ofMatch('i.match_id')}`,
  },
  {
    name: 'quota-sales',
    sentence:
      'every held or sold place of a quota belongs to the reservation of a claimed invitation of that quota, which lists it',
    sql: `
      select s.id as seat_id, s.quota_id, s.reservation_id,
             case when r.id is null then 'its reservation does not exist'
                  when r.invitation_id is null then 'its reservation was made without an invitation'
                  when i.quota_id is distinct from s.quota_id then 'its reservation is of an invitation of another quota'
                  when not s.id = any(i.seat_ids) then 'its reservation is of an invitation that does not list it'
                  when i.reservation_id is null then 'nobody has claimed the invitation of its reservation' end as problem
      from seats s left join reservations r on r.id = s.reservation_id left join invitations i on i.id = r.invitation_id
      where s.quota_id is not null and s.status in ('held', 'sold') and ${ofMatch('s.match_id')}`,
  },
  {
    name: 'quota-places',
    sentence: 'the places of every quota are its free, invited, held and sold ones, each counted once',
    sql: `
      select q.id as quota_id, c.total,
             case when c.total <> c.free + c.bound + c.held + c.sold
                    then c.total || ' places, but ' || (c.free + c.bound + c.held + c.sold) || ' are free, bound, held or sold' end as problem
      from quotas q left join lateral (
        select count(*) as total, count(*) filter (where s.status = 'blocked' and s.bound_to is null) as free,
               count(*) filter (where s.status = 'blocked' and s.bound_to is not null) as bound,
               count(*) filter (where s.status = 'held') as held, count(*) filter (where s.status = 'sold') as sold
        from seats s where s.quota_id = q.id) c on true
      where ${ofMatch('q.match_id')}`,
  },
  {
    name: 'due-returns',
    sentence: 'no quota whose return was due more than 5 minutes ago is open',
    sql: `
      select id as quota_id, return_at,
             case when status = 'open' and return_at <= ${AS_OF} - interval '5 minutes' then 'its places were not returned' end as problem
      from quotas where return_at is not null and ${ofMatch('match_id')}`,
  },
];
