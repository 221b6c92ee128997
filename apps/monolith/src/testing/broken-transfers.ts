// `%names` in the statements are placeholders for ids of the sample sale, see `fillIn` in broken-sales.ts.

/** Ways to break the transfers of a sale, each with the names of the invariants that must then be broken. */
export const brokenTransfers: readonly (readonly [found: string, what: string, statements: string])[] = [
  [
    'accepted-transfers',
    'a ticket was given away at once, without an offer',
    `delete from transfer_offers where status = 'accepted'`,
  ],
  [
    'accepted-transfers',
    'the new ticket of an accepted offer is another fan’s',
    `update transfer_offers set to_user_id = '%new' where status = 'accepted'`,
  ],
  [
    'accepted-transfers',
    'another fan than the giver has offered the ticket',
    `update transfer_offers set from_user_id = '%new' where status = 'accepted'`,
  ],
  ['accepted-transfers', 'the new ticket has the serial of an older one', `update tickets set serial = 1 where serial = 2`],
  [
    'accepted-transfers',
    'the giver’s ticket is still valid after the receiver has accepted it',
    `update tickets set status = 'refunded' where status = 'transferred'`,
  ],
  [
    'open-transfers',
    'the offered ticket is another fan’s',
    `update transfer_offers set from_user_id = '%new' where status = 'offered'`,
  ],
  [
    'open-transfers',
    'a ticket was used while it was offered, and the offer did not end',
    `update tickets set status = 'used' where id in (select ticket_id from transfer_offers where status = 'offered')`,
  ],
  [
    'open-transfers',
    'a ticket has two open offers',
    `drop index transfer_offers_one_open_a_ticket;
     insert into transfer_offers (id, ticket_id, match_id, from_user_id, to_user_id, expires_at)
       select '%new', ticket_id, match_id, from_user_id, to_user_id, expires_at from transfer_offers where status = 'offered'`,
  ],
  [
    'open-transfers',
    'an offer ends after the kick-off',
    `update matches set kickoff_at = now() + interval '1 hour' where id = '%match'`,
  ],
  [
    'open-transfers',
    'an offer is over for an hour but not ended',
    `update transfer_offers set created_at = now() - interval '9 hours', expires_at = now() - interval '1 hour' where status = 'offered'`,
  ],
];
