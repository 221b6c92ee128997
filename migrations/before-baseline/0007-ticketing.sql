-- Tickets. The code in the QR is derived from id, match and serial and signed on the way out; it is stored nowhere.

create table tickets (
  id          uuid primary key,
  order_id    uuid not null,
  match_id    uuid not null,
  user_id     uuid not null,
  seat_id     uuid not null,
  sector      text not null,
  row_label   text,
  number      integer,
  holder_name text not null,
  status      text not null default 'valid' check (status in ('valid', 'used', 'transferred', 'refunded')),
  -- Grows whenever the ticket changes hands: codes of an earlier serial are dead.
  serial      integer not null default 1 check (serial > 0),
  issued_at   timestamptz not null default now()
);
-- One place, one ticket that lets somebody in; the last line of defence, whatever went wrong before it.
create unique index tickets_one_a_seat on tickets (match_id, seat_id) where status in ('valid', 'used');
create index tickets_by_fan on tickets (user_id, id);
create index tickets_by_order on tickets (order_id, id);
