-- Operators find orders by the beginning of an e-mail address and by the end of an order number. `text_pattern_ops` makes LIKE use
-- an index in a database of any locale; it serves equality too.

drop index orders_by_email;
create index orders_by_email on orders (lower(email) text_pattern_ops);
create index orders_by_number_end on orders (reverse(number) text_pattern_ops);
