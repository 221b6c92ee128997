-- Quotas: places of a match that are set aside for an owner before the sale, and the invitations to them.

-- A quota is a node of a tree. Its places are the seats whose `quota_id` names it, without those of its descendants.
create table quotas (
  id                 uuid constraint quotas_pkey primary key,
  match_id           uuid not null constraint quotas_match_id_fkey references matches (id),
  parent_id          uuid,
  -- 1 for a quota without a parent.
  depth              integer not null constraint quotas_depth_check check (depth between 1 and 4),
  name               text not null,
  kind               text not null constraint quotas_kind_check
                     check (kind in ('club', 'fan_group', 'visitors', 'sponsor', 'media', 'federation', 'buffer')),
  -- The partners who act for the quota.
  members            uuid[] not null default '{}',
  contact_email      text,
  opens_at           timestamptz,
  claim_until        timestamptz,
  return_at          timestamptz,
  on_return          text not null default 'public' constraint quotas_on_return_check check (on_return in ('public', 'parent', 'keep')),
  -- Kinds of quotas that places of this quota and of its descendants never move to.
  never_to           text[] not null default '{}',
  -- Sector id → price. A sector that is missing has its ordinary price.
  price_cents        jsonb not null default '{}',
  max_per_invitation integer not null default 4 constraint quotas_max_per_invitation_check check (max_per_invitation between 1 and 20),
  status             text not null default 'open' constraint quotas_status_check check (status in ('open', 'returned')),
  returned_at        timestamptz,
  created_at         timestamptz not null default now(),
  -- The target of foreign keys that also compare the match.
  constraint quotas_of_match unique (match_id, id),
  constraint quotas_parent_fkey foreign key (match_id, parent_id) references quotas (match_id, id),
  constraint quotas_root check ((parent_id is null) = (depth = 1)),
  constraint quotas_has_parent_to_return_to check (on_return <> 'parent' or parent_id is not null),
  constraint quotas_deadlines check (opens_at < claim_until and claim_until <= return_at and opens_at < return_at),
  constraint quotas_returned check ((status = 'returned') = (returned_at is not null))
);
-- The quotas that the return of unused places reads.
create index quotas_to_return on quotas (return_at) where status = 'open' and return_at is not null;

-- A place belongs to one quota or, with null, to the public. The foreign key also compares the match, so no quota has a place of
-- another match. It is checked only when `quota_id` changes, so a sale does not pay for it.
alter table seats add column quota_id uuid;
-- The invitation or the pending move that a place of a quota is bound to: at most one.
alter table seats add column bound_to uuid;
alter table seats add constraint seats_quota_fkey foreign key (match_id, quota_id) references quotas (match_id, id);
-- A place of a quota is `blocked` while nobody holds or has bought it, so the public sale never finds it free.
alter table seats add constraint seats_quota_not_for_sale check (quota_id is null or status <> 'available');
alter table seats add constraint seats_bound_in_quota check (bound_to is null or quota_id is not null);
-- Neither a hold nor a sale changes `quota_id`, so their updates still touch no index.
create index seats_by_quota on seats (quota_id) where quota_id is not null;

-- The ledger. Each row moved places from one owner to another; null is the public. The owner of a place is the target of the last
-- move that names the place, and `cli verify` compares this with `seats.quota_id`. Rows of the same place have ascending `seq`,
-- because a move locks its places first.
create table quota_moves (
  seq         bigint generated always as identity constraint quota_moves_seq_key unique,
  id          uuid constraint quota_moves_pkey primary key,
  match_id    uuid not null,
  at          timestamptz not null default clock_timestamp(),
  kind        text not null constraint quota_moves_kind_check check (kind in ('creation', 'move', 'return')),
  -- The user id of the operator, or `system`.
  actor       text not null,
  -- The second operator, for a move that needed an approval.
  approved_by text,
  from_quota  uuid,
  to_quota    uuid,
  quantity    integer not null,
  reason      text not null,
  seat_ids    uuid[] not null,
  constraint quota_moves_quantity_check check (quantity > 0 and quantity = cardinality(seat_ids)),
  constraint quota_moves_other_owner check (from_quota is distinct from to_quota),
  constraint quota_moves_second_person check (approved_by <> actor),
  constraint quota_moves_from_fkey foreign key (match_id, from_quota) references quotas (match_id, id),
  constraint quota_moves_to_fkey foreign key (match_id, to_quota) references quotas (match_id, id)
);
create index quota_moves_by_match on quota_moves (match_id, seq);

create function refuse_change_of_ledger() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are only added, never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger quota_moves_append_only before update or delete on quota_moves
  for each row execute function refuse_change_of_ledger();

-- Moves that a rule refuses and that wait for a second operator. Their places are bound to them (`seats.bound_to`). An approved
-- request becomes a row of the ledger with the same id.
create table quota_move_requests (
  id           uuid constraint quota_move_requests_pkey primary key,
  match_id     uuid not null,
  from_quota   uuid not null,
  to_quota     uuid not null,
  seat_ids     uuid[] not null,
  reason       text not null,
  -- The rule that is overridden, as in the refusal.
  rule         text not null,
  actor        text not null,
  status       text not null default 'pending' constraint quota_move_requests_status_check
               check (status in ('pending', 'approved', 'rejected', 'expired')),
  requested_at timestamptz not null default now(),
  expires_at   timestamptz not null,
  decided_by   text,
  decided_at   timestamptz,
  constraint quota_move_requests_second_person check (status <> 'approved' or decided_by <> actor),
  constraint quota_move_requests_from_fkey foreign key (match_id, from_quota) references quotas (match_id, id),
  constraint quota_move_requests_to_fkey foreign key (match_id, to_quota) references quotas (match_id, id)
);
create index quota_move_requests_pending on quota_move_requests (expires_at) where status = 'pending';
create index quota_move_requests_by_match on quota_move_requests (match_id);

-- The messages about the return of a quota that its contact got: `week`, `day`, `returned`. A quota whose return is moved is
-- announced again.
create table quota_notices (
  quota_id   uuid not null constraint quota_notices_quota_id_fkey references quotas (id),
  notice     text not null constraint quota_notices_notice_check check (notice in ('week', 'day', 'returned')),
  return_at  timestamptz not null,
  planned_at timestamptz not null default now(),
  constraint quota_notices_pkey primary key (quota_id, notice, return_at)
);

-- An invitation is bound to concrete places of one sector from the moment it is issued.
create table invitations (
  id             uuid constraint invitations_pkey primary key,
  match_id       uuid not null,
  quota_id       uuid not null,
  list_key       text,
  email          text not null,
  name           text,
  -- If set, only this fan can claim it.
  user_id        uuid,
  locale         text not null,
  sector_id      uuid not null,
  seat_ids       uuid[] not null,
  quantity       integer not null,
  note           text,
  -- `open` also while a fan holds or has bought its places; `claimed` once it has ended after a purchase.
  status         text not null default 'open' constraint invitations_status_check
                 check (status in ('open', 'claimed', 'expired', 'withdrawn')),
  -- When it ends: with its quota, or earlier at the time that was given when it was issued.
  expires_at     timestamptz not null,
  -- The end that was given. If it is later than the end of the quota, it counts from the time when the quota ends later.
  given_end      timestamptz,
  -- The latest claim. Its reservation says whether it was paid.
  reservation_id uuid,
  claimed_by     uuid,
  claimed_at     timestamptz,
  created_by     text not null,
  created_at     timestamptz not null default now(),
  ended_at       timestamptz,
  reminded_at    timestamptz,
  constraint invitations_quantity_check check (quantity between 1 and 20 and quantity = cardinality(seat_ids)),
  constraint invitations_quota_fkey foreign key (match_id, quota_id) references quotas (match_id, id)
);
-- A list that is sent again invites nobody twice.
create unique index invitations_of_list on invitations (quota_id, list_key, lower(email)) where list_key is not null;
create index invitations_by_quota on invitations (quota_id, id);
-- The task that ends invitations, and the one that reminds of them, read the open ones.
create index invitations_open on invitations (expires_at) where status = 'open';
-- The task that withdraws the invitations of cancelled matches.
create index invitations_open_by_match on invitations (match_id) where status = 'open';

-- The tokens that open an invitation: the one in its mail, and the one in its reminder, so that the first link goes on working. Here
-- is their SHA-256; the tokens themselves are in the mails only. Sending an invitation again deletes the old ones.
create table invitation_tokens (
  token_hash    bytea constraint invitation_tokens_pkey primary key,
  invitation_id uuid not null constraint invitation_tokens_invitation_id_fkey references invitations (id)
);
create index invitation_tokens_by_invitation on invitation_tokens (invitation_id);

-- Set for a hold of an invitation: it needs no turn and counts against no fan's limit.
alter table reservations add column invitation_id uuid;
create index reservations_by_invitation on reservations (invitation_id) where invitation_id is not null;
