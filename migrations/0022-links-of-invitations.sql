-- Some databases have all of this from 0019 already, others have the table of invitations with the hash of one token in it. So each
-- statement changes only what is missing.

-- The tokens that open an invitation: the one in its mail, and the one in its reminder, so that the first link goes on working. Here
-- is their SHA-256; the tokens themselves are in the mails only. Sending an invitation again deletes the old ones.
create table if not exists invitation_tokens (
  token_hash    bytea constraint invitation_tokens_pkey primary key,
  invitation_id uuid not null constraint invitation_tokens_invitation_id_fkey references invitations (id)
);
create index if not exists invitation_tokens_by_invitation on invitation_tokens (invitation_id);
-- Until now nothing could issue an invitation, so no token is lost.
alter table invitations drop column if exists token_hash;

-- The end that was given when the invitation was issued. `expires_at` is the earlier one of this and the end of the quota. If the
-- quota ends later from now on, the given end counts.
alter table invitations add column if not exists given_end timestamptz;

-- The task that withdraws the invitations of cancelled matches reads the open ones.
create index if not exists invitations_open_by_match on invitations (match_id) where status = 'open';
-- All claims of an invitation.
create index if not exists reservations_by_invitation on reservations (invitation_id) where invitation_id is not null;
