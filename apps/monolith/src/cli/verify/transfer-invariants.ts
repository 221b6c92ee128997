import { AS_OF, ofMatch, type Invariant } from './invariant.ts';

/** Invariants: tickets change their owner only by offers that were accepted. */
export const transferInvariants: readonly Invariant[] = [
  {
    name: 'accepted-transfers',
    sentence: 'a ticket changes its owner only by an accepted offer, whose receiver has the next ticket of the seat',
    sql: `
      select f.id as offer_id, f.ticket_id, f.new_ticket_id,
             case when t.status <> 'transferred' then 'accepted, but the giver''s ticket is ' || t.status
                  when t.user_id <> f.from_user_id then 'accepted, but the ticket was not the giver''s'
                  when n.user_id <> f.to_user_id then 'accepted, but another fan has the new ticket'
                  when (n.order_id, n.seat_id, n.match_id, n.serial) <> (t.order_id, t.seat_id, t.match_id, t.serial + 1)
                    then 'accepted, but the new ticket is not the next one of the seat' end as problem
      from transfer_offers f join tickets t on t.id = f.ticket_id join tickets n on n.id = f.new_ticket_id
      where f.status = 'accepted' and ${ofMatch('f.match_id')}
      union all
      select null, t.id, null, case when f.id is null then 'given away without an accepted offer' end
      from tickets t left join transfer_offers f on f.ticket_id = t.id and f.status = 'accepted'
      where t.status = 'transferred' and ${ofMatch('t.match_id')}
      union all
      select null, null, n.id, case when f.id is null then 'received without an accepted offer' end
      from tickets n left join transfer_offers f on f.new_ticket_id = n.id and f.status = 'accepted'
      where n.serial > 1 and ${ofMatch('n.match_id')}`,
  },
  {
    name: 'open-transfers',
    sentence:
      'every open offer is of a valid ticket of its giver, is the only one of the ticket, ends at kick-off at the latest, and is ended when its time is over',
    sql: `
      select f.id as offer_id, f.ticket_id,
             case when t.user_id <> f.from_user_id then 'open, but the ticket is not the giver''s'
                  when t.status <> 'valid' then 'open, but its ticket is ' || t.status
                  when count(*) over (partition by f.ticket_id) > 1 then 'two open offers of one ticket'
                  when m.cancelled_at is not null then 'open, but its match is cancelled'
                  when f.expires_at > m.kickoff_at then 'ends after the kick-off'
                  when f.expires_at <= ${AS_OF} - interval '5 minutes' then 'its time is over, but it was not ended' end as problem
      from transfer_offers f join tickets t on t.id = f.ticket_id join matches m on m.id = f.match_id
      where f.status = 'offered' and ${ofMatch('f.match_id')}`,
  },
];
