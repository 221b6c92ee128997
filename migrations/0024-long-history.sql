-- Indexes with which a history of millions of orders is searched and cleaned up without reading it from end to end. Neither of those on
-- orders and order_timeline contains a column that changes, so an update still touches no index.

-- Operators search orders by e-mail address.
create index orders_by_email on orders (lower(email));
-- Operators list the orders with one of these statuses, newest first. An index of the status itself would be written by every purchase;
-- a status has an entry in the timeline, and completed orders have none of these.
create index order_timeline_ends on order_timeline (event, order_id) where event in ('cancelled', 'expired', 'refunded');

-- Finds the broadcasts to a fan's devices. Tokens have about 160 letters, and a hash index stores none of them.
create index broadcast_devices_by_token on broadcast_devices using hash (fcm_token);

-- The purge looks at the claim: a push that was never finished is deleted too.
create index push_progress_claimed_at_idx on push_progress using brin (claimed_at);
drop index push_progress_finished_at_idx;
