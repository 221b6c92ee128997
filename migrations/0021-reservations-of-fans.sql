-- Lists the reservations of a fan, ended ones included, at no cost for a hold. An index of all reservations by fan would cost each
-- hold 4 of 37 µs. So a reservation enters this index when it ends: the release and the expiry sweeper change indexed columns
-- anyway. Reservations that have not ended are listed in `fan_seats`; those of invitations are not, so they are here from the start.
alter table reservations add column released boolean not null default false;
create index reservations_by_fan on reservations (user_id, id) where swept or released or invitation_id is not null;

-- Room for the claims of invitations: a changed row stays in its page and touches no index. Otherwise all claims of a list would
-- change the same page of invitations_pkey, which each of them has read: serialization conflicts.
alter table invitations set (fillfactor = 45);
