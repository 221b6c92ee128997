-- What operators and partners did, and which personal data they read. Rows are only added. The role of the services may insert and
-- select (`cli migrate` grants the rights); old rows are deleted by the owner of the schema.
create table audit_log (
  id          uuid constraint audit_log_pkey primary key,
  -- Not now(): the acts of one second are in the order in which they happened, however long their transactions took.
  at          timestamptz not null default clock_timestamp(),
  -- The user id of the operator or partner.
  actor       text not null,
  -- The roles that the caller had at this call.
  roles       text[] not null,
  -- The operation id of the route.
  action      text not null,
  target_type text not null,
  target_id   text,
  -- The match that the target belongs to, if it belongs to one.
  match_id    uuid,
  before      jsonb,
  after       jsonb,
  request_id  text not null,
  address     text not null
);
-- One index for each filter of GET /ops/audit, and one for two of them together. Each has the order of the answer.
create index audit_log_by_time on audit_log (at, id);
create index audit_log_by_actor on audit_log (actor, at, id);
create index audit_log_by_action on audit_log (action, at, id);
create index audit_log_by_actor_and_action on audit_log (actor, action, at, id);
create index audit_log_by_target on audit_log (target_id, at, id) where target_id is not null;
create index audit_log_by_match on audit_log (match_id, at, id) where match_id is not null;

create function refuse_change_of_audit_log() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are only added, never changed', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger audit_log_append_only before update on audit_log
  for each row execute function refuse_change_of_audit_log();
