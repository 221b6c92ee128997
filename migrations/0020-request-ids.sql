-- The HTTP request in which something began, so that a purchase can be followed from its checkout to its mail: the request id of
-- its log lines, and its position in a trace (W3C traceparent). Null: written by the previous version, or not in a request.
alter table orders add column request_id text, add column traceparent text;
alter table outbox add column request_id text, add column traceparent text;
alter table jobs add column request_id text, add column traceparent text;
