-- The idempotency key of the checkout that made the order. That checkout commits the order before its answer; sent again after it
-- broke off in between, it is still the first use of its key. Null: made before this column was there.
alter table orders add column placed_with_key text collate "C";
