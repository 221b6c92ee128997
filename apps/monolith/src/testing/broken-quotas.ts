// `%names` in the statements are placeholders for ids of the sample sale, see `fillIn` in broken-sales.ts.

/** SQL for the open invitation of the sample sale, and for the one whose places are sold. */
const INVITATION = `(select bound_to from seats where id = '%quotaInvited')`;
const BOUGHT = `(select invitation_id from reservations where id = '%quotaReservation')`;

/** Ways to break the quotas of a sale, each with the names of the invariants that must then be broken. */
export const brokenQuotas: readonly (readonly [found: string, what: string, statements: string])[] = [
  [
    'quota-ledger',
    'a place leaves its quota without a move',
    `update seats set quota_id = null, status = 'available' where id = '%quotaFree'`,
  ],
  [
    'quota-ledger',
    'a public place gets into a quota without a move',
    `update seats set quota_id = '%quota', status = 'blocked'
     where id = (select id from seats where status = 'available' and match_id = '%match' order by id limit 1)`,
  ],
  [
    'quota-ledger',
    'a place is moved twice from the same owner',
    `insert into quota_moves (id, match_id, kind, actor, from_quota, to_quota, quantity, reason, seat_ids)
       select gen_random_uuid(), match_id, kind, actor, from_quota, to_quota, 1, reason, array['%quotaFree'::uuid]
       from quota_moves where to_quota = '%quota'`,
  ],
  ['bound-places', 'a place is bound to nothing', `update seats set bound_to = gen_random_uuid() where id = '%quotaFree'`],
  [
    'bound-places',
    'a place is bound to a pending move that does not list it',
    `update seats set bound_to = '%pendingMove' where id = '%quotaFree'`,
  ],
  [
    'bound-places',
    'an invitation was withdrawn, but its place is bound',
    `update invitations set status = 'withdrawn' where id = ${INVITATION}`,
  ],
  [
    'bound-places',
    'an invitation expired an hour ago, but its place is bound',
    `update invitations set expires_at = now() - interval '1 hour' where id = ${INVITATION}`,
  ],
  [
    'bound-places',
    'a move was rejected, but its places are bound',
    `update quota_move_requests set status = 'rejected' where id = '%pendingMove'`,
  ],
  ['pending-moves', 'a place of a pending move is not bound', `update seats set bound_to = null where id = '%quotaPending'`],
  [
    'fan-seats quota-sales',
    'places of a quota were sold without an invitation',
    `update reservations set invitation_id = null where id = '%quotaReservation'`,
  ],
  [
    'bound-places quota-sales',
    'places were sold to the invited of another quota',
    `update invitations set quota_id = (select id from quotas where match_id = '%match' and id <> '%quota')
     where id = ${BOUGHT}`,
  ],
  [
    'bound-places quota-sales',
    'places were sold to the invited of other places',
    `update invitations set seat_ids = array[gen_random_uuid(), gen_random_uuid()] where id = ${BOUGHT}`,
  ],
  [
    'quota-sales',
    'places were sold, but nobody has claimed their invitation',
    `update invitations set reservation_id = null where id = ${BOUGHT}`,
  ],
  [
    'invited-places',
    'a place of an open invitation is bound to nothing',
    `update seats set bound_to = null where id = '%quotaInvited'`,
  ],
  [
    'invited-places',
    'a place is invited twice',
    `insert into invitations
       select (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid()))).* from invitations i where i.id = ${INVITATION}`,
  ],
  [
    'invitation-ends',
    'an invitation was withdrawn after its purchase',
    `update invitations set status = 'withdrawn' where id = ${BOUGHT}`,
  ],
  [
    'bound-places invitation-ends',
    'an invitation ended as claimed without a purchase',
    `update invitations set status = 'claimed' where id = ${INVITATION}`,
  ],
  [
    'bound-places invitation-ends',
    'an invitation expired while a fan holds its places',
    `update invitations set status = 'expired' where id = (select invitation_id from reservations where status = 'held' and invitation_id is not null)`,
  ],
  [
    'quota-places',
    'a place of a quota is for sale',
    `alter table seats drop constraint seats_quota_not_for_sale;
     update seats set status = 'available' where id = '%quotaFree'`,
  ],
  [
    'due-returns',
    'a quota has not returned its places',
    `update quotas set return_at = now() - interval '1 hour' where id = '%quota'`,
  ],
];
