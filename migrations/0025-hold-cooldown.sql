-- Holds of a fan at a match that ended unpaid, for the cooldown after several of them. The fan's next hold moves them here from
-- `reservation_ids`, so neither a first hold nor the end of a hold costs anything. Null: none.
alter table fan_seats add column unpaid_ids uuid[];
-- Only unpaid holds that began at this time or later count: a payment or a cooldown started the count again. Null: all count.
alter table fan_seats add column unpaid_from timestamptz;
