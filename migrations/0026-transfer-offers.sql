-- A ticket changes its owner only after the receiver has accepted an offer of it.

-- Whether fans may offer and accept tickets of the match.
alter table matches add column transfers text not null default 'allowed'
  constraint matches_transfers_check check (transfers in ('allowed', 'locked'));

create table transfer_offers (
  id            uuid constraint transfer_offers_pkey primary key,
  -- The giver's ticket.
  ticket_id     uuid not null constraint transfer_offers_ticket_id_fkey references tickets (id),
  match_id      uuid not null,
  from_user_id  uuid not null,
  -- The fan to whom it is offered; of an offer to an address the fan who has accepted it.
  to_user_id    uuid,
  -- The address to which it is offered, as the giver wrote it.
  to_email      text,
  -- The name of the new holder, if the giver suggests one.
  holder_name   text,
  -- An open offer is over from `expires_at` on, also before the task has changed its status.
  status        text not null default 'offered' constraint transfer_offers_status_check
                check (status in ('offered', 'accepted', 'declined', 'withdrawn', 'expired')),
  created_at    timestamptz not null default now(),
  expires_at    timestamptz not null,
  ended_at      timestamptz,
  -- The receiver's ticket.
  new_ticket_id uuid constraint transfer_offers_one_a_new_ticket unique
                constraint transfer_offers_new_ticket_id_fkey references tickets (id),
  constraint transfer_offers_receiver check (to_user_id is not null or to_email is not null),
  constraint transfer_offers_ended check ((status = 'offered') = (ended_at is null)),
  constraint transfer_offers_accepted check ((status = 'accepted') = (new_ticket_id is not null)
                                             and (status <> 'accepted' or to_user_id is not null)),
  constraint transfer_offers_lasts check (expires_at <= created_at + interval '72 hours')
);
-- One ticket has one open offer, and goes to one receiver.
create unique index transfer_offers_one_open_a_ticket on transfer_offers (ticket_id) where status = 'offered';
create unique index transfer_offers_one_accepted_a_ticket on transfer_offers (ticket_id) where status = 'accepted';
create index transfer_offers_by_giver on transfer_offers (from_user_id, id);
create index transfer_offers_by_receiver on transfer_offers (to_user_id, id) where to_user_id is not null;
create index transfer_offers_by_address on transfer_offers (lower(to_email), id) where to_email is not null;
create index transfer_offers_open_by_match on transfer_offers (match_id) where status = 'offered';
create index transfer_offers_open_by_end on transfer_offers (expires_at) where status = 'offered';

-- Transfers until now took place at once. Each becomes an accepted offer.
insert into transfer_offers (id, ticket_id, match_id, from_user_id, to_user_id, holder_name, status, created_at, expires_at, ended_at, new_ticket_id)
select gen_random_uuid(), given.id, given.match_id, given.user_id, received.user_id, received.holder_name, 'accepted',
       received.issued_at, received.issued_at, received.issued_at, received.id
from tickets given
  join tickets received on received.order_id = given.order_id and received.seat_id = given.seat_id and received.serial = given.serial + 1
where given.status = 'transferred';

-- From now on a ticket also counts for a fan who has given it away, unless it was refunded. It is added to the counts here, once
-- for each fan who had the ticket and has it no more. Tickets of invitations count for nobody.
with given as (
  select gone.match_id, gone.user_id, count(distinct (gone.order_id, gone.seat_id))::int as n
  from tickets gone
    join orders o on o.id = gone.order_id
    join reservations r on r.id = o.reservation_id and r.invitation_id is null
  where gone.status = 'transferred'
    and exists (select from tickets t where t.order_id = gone.order_id and t.seat_id = gone.seat_id and t.status in ('valid', 'used'))
    and not exists (select from tickets t where t.order_id = gone.order_id and t.seat_id = gone.seat_id
                      and t.user_id = gone.user_id and t.status in ('valid', 'used'))
  group by gone.match_id, gone.user_id
)
update fan_seats f set received = f.received + given.n, revision = f.revision + 1
from given where f.match_id = given.match_id and f.user_id = given.user_id;

-- Fans who gave tickets away under the old rule may have had more than the limit, as after a limit was lowered.
update matches m set limit_lowered_at = clock_timestamp()
where exists (select from tickets t where t.match_id = m.id and t.status = 'transferred');
