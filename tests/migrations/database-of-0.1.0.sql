-- A dump of a database of version 0.1.0, schema and data, with rows in every table: made by `migrate` of 0.1.0 and
-- `pg_dump --inserts --no-owner --no-privileges`. It stands for the databases that were made before the baseline, so it is never
-- made again from a newer version.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.alert_notes (
    id bigint NOT NULL,
    way text NOT NULL,
    about text NOT NULL,
    text text NOT NULL,
    subject text,
    noted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    told_at timestamp with time zone,
    CONSTRAINT alert_notes_way_check CHECK ((way = ANY (ARRAY['webhook'::text, 'mail'::text])))
);

ALTER TABLE public.alert_notes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.alert_notes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.blacklist (
    user_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    reason text NOT NULL,
    until timestamp with time zone,
    listed_by uuid NOT NULL,
    listed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.blacklist_changes (
    id bigint NOT NULL,
    user_id uuid NOT NULL,
    action text NOT NULL,
    reason text,
    until timestamp with time zone,
    by uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT blacklist_changes_action_check CHECK ((action = ANY (ARRAY['list'::text, 'lift'::text])))
);

ALTER TABLE public.blacklist_changes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.blacklist_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.broadcast_devices (
    broadcast_id uuid NOT NULL,
    ordinal integer NOT NULL,
    fcm_token text NOT NULL
);

CREATE TABLE public.broadcasts (
    id uuid NOT NULL,
    template text NOT NULL,
    devices integer NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.devices (
    user_id uuid NOT NULL,
    device_id text NOT NULL,
    fcm_token text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.fan_seats (
    match_id uuid NOT NULL,
    user_id uuid NOT NULL,
    revision integer NOT NULL,
    reservation_ids uuid[] NOT NULL,
    received integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.fans (
    user_id uuid NOT NULL,
    email text,
    name text,
    locale text DEFAULT 'hr'::text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT fans_locale_check CHECK ((locale = ANY (ARRAY['hr'::text, 'en'::text])))
);

CREATE TABLE public.idempotency_keys (
    key text NOT NULL COLLATE pg_catalog."C",
    user_id uuid NOT NULL,
    fingerprint text NOT NULL,
    status integer,
    body text,
    location text,
    made uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.inbox (
    consumer text NOT NULL,
    message_id text NOT NULL,
    claimed_at timestamp with time zone,
    finished_at timestamp with time zone,
    attempts smallint NOT NULL,
    CONSTRAINT inbox_attempts_check CHECK (((attempts >= 0) AND (attempts <= 2)))
)
WITH (fillfactor='50');

CREATE TABLE public.job_interventions (
    id bigint NOT NULL,
    queue text NOT NULL,
    job_id text NOT NULL,
    action text NOT NULL,
    by text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT job_interventions_action_check CHECK ((action = ANY (ARRAY['retry'::text, 'drop'::text])))
);

ALTER TABLE public.job_interventions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.job_interventions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.jobs (
    id uuid NOT NULL,
    class text NOT NULL,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
    transport text,
    done_at timestamp with time zone,
    failed_at timestamp with time zone,
    CONSTRAINT jobs_one_end CHECK (((done_at IS NULL) OR (failed_at IS NULL)))
);

CREATE TABLE public.loaded_conflicts (
    source text NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL,
    code text NOT NULL,
    detail text NOT NULL,
    raised_at timestamp with time zone DEFAULT now() NOT NULL,
    resolved_at timestamp with time zone
);

CREATE TABLE public.loaded_events (
    source text NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    payload jsonb NOT NULL,
    loaded_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.loaded_events_due (
    source text NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    feeds text NOT NULL,
    seq bigint NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    parked_at timestamp with time zone
);

ALTER TABLE public.loaded_events_due ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.loaded_events_due_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.loader_balance (
    source text NOT NULL,
    hour timestamp with time zone NOT NULL,
    offered bigint DEFAULT 0 NOT NULL,
    stored bigint DEFAULT 0 NOT NULL,
    refused_duplicates bigint DEFAULT 0 NOT NULL,
    quarantined bigint DEFAULT 0 NOT NULL,
    dropped bigint DEFAULT 0 NOT NULL,
    missing bigint
)
WITH (fillfactor='50');

CREATE TABLE public.loader_sources (
    source text NOT NULL,
    cursor text COLLATE pg_catalog."C",
    fence bigint DEFAULT 0 NOT NULL,
    stored bigint DEFAULT 0 NOT NULL,
    refused_duplicates bigint DEFAULT 0 NOT NULL,
    quarantined bigint DEFAULT 0 NOT NULL,
    gaps bigint DEFAULT 0 NOT NULL,
    transported_again bigint DEFAULT 0 NOT NULL,
    missing bigint,
    errors bigint DEFAULT 0 NOT NULL,
    last_error text,
    refusal_told_at timestamp with time zone,
    caught_up_at timestamp with time zone,
    asked_since timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.mailbox_messages (
    id bigint NOT NULL,
    channel text NOT NULL,
    recipient text NOT NULL,
    user_id uuid,
    template text NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    html text,
    attachments text[] DEFAULT '{}'::text[] NOT NULL,
    sent_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT mailbox_messages_channel_check CHECK ((channel = ANY (ARRAY['email'::text, 'push'::text])))
);

ALTER TABLE public.mailbox_messages ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.mailbox_messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.match_reminders (
    match_id uuid NOT NULL,
    kickoff_at timestamp with time zone NOT NULL,
    planned_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.matches (
    id uuid NOT NULL,
    home text NOT NULL,
    away text NOT NULL,
    venue text NOT NULL,
    kickoff_at timestamp with time zone NOT NULL,
    currency text NOT NULL,
    max_tickets_per_fan integer NOT NULL,
    queue_required boolean NOT NULL,
    opens_at timestamp with time zone,
    sale_status text NOT NULL,
    pause_reason text,
    processing_rate integer NOT NULL,
    max_open_windows integer NOT NULL,
    limit_lowered_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    cancelled_at timestamp with time zone,
    cancel_reason text,
    CONSTRAINT matches_cancelled_closed CHECK (((cancelled_at IS NULL) OR (sale_status = 'closed'::text))),
    CONSTRAINT matches_max_open_windows_check CHECK ((max_open_windows >= 0)),
    CONSTRAINT matches_max_tickets_per_fan_check CHECK (((max_tickets_per_fan >= 1) AND (max_tickets_per_fan <= 20))),
    CONSTRAINT matches_processing_rate_check CHECK ((processing_rate > 0)),
    CONSTRAINT matches_sale_status_check CHECK ((sale_status = ANY (ARRAY['scheduled'::text, 'open'::text, 'paused'::text, 'sold_out'::text, 'closed'::text])))
);

CREATE TABLE public.migrations (
    id integer NOT NULL,
    "timestamp" bigint NOT NULL,
    name character varying NOT NULL
);

CREATE SEQUENCE public.migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.migrations_id_seq OWNED BY public.migrations.id;

CREATE TABLE public.order_intents (
    intent_id text NOT NULL,
    order_id uuid NOT NULL
);

CREATE SEQUENCE public.order_numbers
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.order_timeline (
    id bigint NOT NULL,
    order_id uuid NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event text NOT NULL
);

ALTER TABLE public.order_timeline ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.order_timeline_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.orders (
    id uuid NOT NULL,
    number text NOT NULL,
    match_id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    user_id uuid NOT NULL,
    session_token text,
    claims_window boolean NOT NULL,
    status text NOT NULL,
    total_cents integer NOT NULL,
    currency text NOT NULL,
    email text NOT NULL,
    holders jsonb NOT NULL,
    provider text NOT NULL,
    intent_id text,
    client_secret text,
    confirm_url text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    completed_at timestamp with time zone,
    refunded_tickets integer DEFAULT 0 NOT NULL,
    refunded_cents integer DEFAULT 0 NOT NULL,
    placed_with_key text COLLATE pg_catalog."C",
    CONSTRAINT orders_check CHECK (((refunded_cents >= 0) AND (refunded_cents <= total_cents))),
    CONSTRAINT orders_status_check CHECK ((status = ANY (ARRAY['awaiting_payment'::text, 'completed'::text, 'cancelled'::text, 'refunded'::text, 'expired'::text])))
)
WITH (fillfactor='35');

CREATE TABLE public.outbox (
    id uuid NOT NULL,
    seq bigint NOT NULL,
    destination text NOT NULL,
    event text NOT NULL,
    aggregate_id text,
    body jsonb NOT NULL,
    series uuid,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    available_at timestamp with time zone DEFAULT now() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    last_error text,
    parked_at timestamp with time zone,
    failures jsonb,
    retried_at timestamp with time zone
);

ALTER TABLE public.outbox ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.outbox_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.payment_inbox (
    event_id text NOT NULL,
    type text NOT NULL,
    intent_id text,
    outcome text NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    amount_cents bigint,
    currency text
);

CREATE TABLE public.purchase_windows (
    session_token text NOT NULL COLLATE pg_catalog."C",
    match_id uuid NOT NULL,
    user_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    end_reason text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    place_score bigint
)
WITH (fillfactor='80');

CREATE TABLE public.push_progress (
    message_id text NOT NULL,
    broadcast_id uuid,
    devices smallint NOT NULL,
    holder uuid,
    claimed_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    done smallint[] DEFAULT '{}'::smallint[] NOT NULL,
    dead smallint DEFAULT 0 NOT NULL,
    refused smallint DEFAULT 0 NOT NULL
);

CREATE TABLE public.quarantined_events (
    source text NOT NULL,
    event_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    code text NOT NULL,
    digest text NOT NULL,
    detail text NOT NULL,
    content text NOT NULL,
    quarantined_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.queue_event_cursors (
    match_id uuid NOT NULL,
    last_id text NOT NULL
);

CREATE TABLE public.queue_generations (
    match_id uuid NOT NULL,
    generation integer NOT NULL
);

CREATE TABLE public.queued_jobs (
    message_id uuid NOT NULL,
    queue text NOT NULL,
    body jsonb NOT NULL,
    jobs integer DEFAULT 1 NOT NULL,
    queued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY public.queued_jobs ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE public.reservations (
    id uuid NOT NULL,
    match_id uuid NOT NULL,
    sector_id uuid NOT NULL,
    user_id uuid NOT NULL,
    session_token text,
    status text NOT NULL,
    seat_ids uuid[] NOT NULL,
    quantity integer NOT NULL,
    sector text NOT NULL,
    price_cents integer NOT NULL,
    together boolean NOT NULL,
    total_cents integer NOT NULL,
    currency text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone,
    swept boolean DEFAULT false NOT NULL,
    CONSTRAINT reservations_quantity_check CHECK (((quantity >= 1) AND (quantity <= 20))),
    CONSTRAINT reservations_status_check CHECK ((status = ANY (ARRAY['held'::text, 'ordered'::text, 'completed'::text, 'expired'::text, 'released'::text])))
)
WITH (fillfactor='60');

CREATE TABLE public.seats (
    id uuid NOT NULL,
    match_id uuid NOT NULL,
    sector_id uuid NOT NULL,
    row_label text,
    number integer,
    row_index integer NOT NULL,
    x real,
    y real,
    rank integer NOT NULL,
    status text DEFAULT 'available'::text NOT NULL,
    reservation_id uuid,
    expires_at timestamp with time zone,
    CONSTRAINT seats_have_holder CHECK (((status = ANY (ARRAY['held'::text, 'sold'::text])) = (reservation_id IS NOT NULL))),
    CONSTRAINT seats_held_until CHECK (((status = 'held'::text) = (expires_at IS NOT NULL))),
    CONSTRAINT seats_status_check CHECK ((status = ANY (ARRAY['available'::text, 'held'::text, 'sold'::text, 'blocked'::text])))
)
WITH (fillfactor='45');

CREATE VIEW public.reservation_seats AS
 SELECT r.id AS reservation_id,
    l.seat_id,
    l."position",
    r.sector,
    s.row_label,
    s.number,
    r.price_cents
   FROM ((public.reservations r
     CROSS JOIN LATERAL unnest(r.seat_ids) WITH ORDINALITY l(seat_id, "position"))
     LEFT JOIN public.seats s ON ((s.id = l.seat_id)));

CREATE TABLE public.sandbox_intents (
    id text NOT NULL,
    order_id uuid NOT NULL,
    amount_cents integer NOT NULL,
    currency text NOT NULL,
    status text DEFAULT 'requires_payment'::text NOT NULL,
    client_secret text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT sandbox_intents_amount_cents_check CHECK ((amount_cents >= 0)),
    CONSTRAINT sandbox_intents_id_check CHECK ((id ~ '^pi_[0-9A-Za-z]{24}$'::text)),
    CONSTRAINT sandbox_intents_status_check CHECK ((status = ANY (ARRAY['requires_payment'::text, 'failed'::text, 'succeeded'::text, 'canceled'::text, 'refunded'::text])))
)
WITH (fillfactor='45');

CREATE TABLE public.sandbox_refunds (
    key text NOT NULL,
    intent_id text NOT NULL,
    amount_cents integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT sandbox_refunds_amount_cents_check CHECK ((amount_cents > 0))
);

CREATE TABLE public.seat_blocks (
    seat_id uuid NOT NULL,
    match_id uuid NOT NULL,
    source text NOT NULL,
    event_id text NOT NULL COLLATE pg_catalog."C",
    reference text NOT NULL,
    blocked_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE SEQUENCE public.seat_view_processes
    AS integer
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    MAXVALUE 4095
    CACHE 1
    CYCLE;

CREATE TABLE public.sectors (
    id uuid NOT NULL,
    match_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    gate text,
    price_cents integer NOT NULL,
    capacity integer NOT NULL,
    "position" integer NOT NULL,
    CONSTRAINT sectors_capacity_check CHECK ((capacity > 0)),
    CONSTRAINT sectors_kind_check CHECK ((kind = ANY (ARRAY['seated'::text, 'standing'::text]))),
    CONSTRAINT sectors_price_cents_check CHECK ((price_cents >= 0))
);

CREATE TABLE public.tickets (
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    match_id uuid NOT NULL,
    user_id uuid NOT NULL,
    seat_id uuid NOT NULL,
    sector text NOT NULL,
    row_label text,
    number integer,
    holder_name text NOT NULL,
    status text DEFAULT 'valid'::text NOT NULL,
    serial integer DEFAULT 1 NOT NULL,
    issued_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tickets_serial_check CHECK ((serial > 0)),
    CONSTRAINT tickets_status_check CHECK ((status = ANY (ARRAY['valid'::text, 'used'::text, 'transferred'::text, 'refunded'::text])))
);

ALTER TABLE ONLY public.migrations ALTER COLUMN id SET DEFAULT nextval('public.migrations_id_seq'::regclass);

INSERT INTO public.alert_notes OVERRIDING SYSTEM VALUE VALUES (1, 'webhook', 'dead letters', 'a job failed', '01900000-0000-7000-8000-000000000072', '2026-11-19 09:47:00+00', '2026-11-19 09:48:00+00');
INSERT INTO public.alert_notes OVERRIDING SYSTEM VALUE VALUES (2, 'mail', 'breaker', 'provider down
since 09:40', NULL, '2026-11-19 09:47:00+00', NULL);

INSERT INTO public.blacklist VALUES ('01900000-0000-7000-8000-0000000000f4', '01900000-0000-7000-8000-0000000000e1', 'resale', NULL, '01900000-0000-7000-8000-0000000000d1', '2026-11-03 08:00:00+00');

INSERT INTO public.blacklist_changes OVERRIDING SYSTEM VALUE VALUES (1, '01900000-0000-7000-8000-0000000000f5', 'list', 'flares', '2027-01-01 00:00:00+00', '01900000-0000-7000-8000-0000000000d1', '2026-11-03 07:00:00+00');
INSERT INTO public.blacklist_changes OVERRIDING SYSTEM VALUE VALUES (2, '01900000-0000-7000-8000-0000000000f5', 'lift', NULL, NULL, '01900000-0000-7000-8000-0000000000d1', '2026-11-03 07:30:00+00');
INSERT INTO public.blacklist_changes OVERRIDING SYSTEM VALUE VALUES (3, '01900000-0000-7000-8000-0000000000f4', 'list', 'resale', NULL, '01900000-0000-7000-8000-0000000000d1', '2026-11-03 08:00:00+00');

INSERT INTO public.broadcast_devices VALUES ('01900000-0000-7000-8000-0000000000b1', 0, 'token-1');
INSERT INTO public.broadcast_devices VALUES ('01900000-0000-7000-8000-0000000000b1', 1, 'token-2');

INSERT INTO public.broadcasts VALUES ('01900000-0000-7000-8000-0000000000b1', 'match_changed', 2, '2026-11-19 09:44:00+00');

INSERT INTO public.devices VALUES ('01900000-0000-7000-8000-0000000000f1', 'phone', 'token-1', '2026-11-01 08:00:00+00');
INSERT INTO public.devices VALUES ('01900000-0000-7000-8000-0000000000f3', 'tablet', 'token-2', '2026-11-01 08:01:00+00');

INSERT INTO public.fan_seats VALUES ('01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000f1', 1, '{01900000-0000-7000-8000-000000000031}', 0);
INSERT INTO public.fan_seats VALUES ('01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000f2', 2, '{01900000-0000-7000-8000-000000000032,01900000-0000-7000-8000-000000000033}', 1);

INSERT INTO public.fans VALUES ('01900000-0000-7000-8000-0000000000f1', 'ana@example.com', 'Ana', 'hr', '2026-11-01 08:00:00+00');
INSERT INTO public.fans VALUES ('01900000-0000-7000-8000-0000000000f2', NULL, NULL, 'en', '2026-11-02 08:00:00+00');

INSERT INTO public.idempotency_keys VALUES ('01900000-0000-7000-8000-0000000000a1', '01900000-0000-7000-8000-0000000000f1', 'sha-1', 201, NULL, '/orders/1', '01900000-0000-7000-8000-000000000041', '2026-11-19 09:42:00+00');
INSERT INTO public.idempotency_keys VALUES ('01900000-0000-7000-8000-0000000000a2', '01900000-0000-7000-8000-0000000000f2', 'sha-2', 409, '{"code":"SEATS_UNAVAILABLE","detail":"line 1\nline 2"}', NULL, NULL, '2026-11-19 09:43:00+00');

INSERT INTO public.inbox VALUES ('email', 'msg-1', '2026-11-19 09:45:00+00', '2026-11-19 09:45:01+00', 1);
INSERT INTO public.inbox VALUES ('email', 'msg-2', NULL, NULL, 2);

INSERT INTO public.job_interventions OVERRIDING SYSTEM VALUE VALUES (1, 'jobs', '01900000-0000-7000-8000-000000000072', 'retry', 'operator-1', '2026-11-19 09:48:00+00');

INSERT INTO public.jobs VALUES ('01900000-0000-7000-8000-000000000071', 'RefundOrder', '{"order": 1}', '2026-11-19 09:45:00+00', '[]', NULL, '2026-11-19 09:46:00+00', NULL);
INSERT INTO public.jobs VALUES ('01900000-0000-7000-8000-000000000072', 'TellAlert', '{"text": "š"}', '2026-11-19 09:45:00+00', '[{"at": "2026-11-19T09:45:01Z", "error": "timeout", "stack": "Error\n  at x"}]', 'redis', NULL, '2026-11-19 09:47:00+00');

INSERT INTO public.loaded_conflicts VALUES ('partner', 'evt-7', 'seat 1/3', 'SEAT_SOLD', 'sold here before', '2026-11-02 08:00:00+00', NULL);

INSERT INTO public.loaded_events VALUES ('payments', 'evt_1', '{"type": "payment_intent.succeeded", "amount": 4500.00}', '2026-11-19 09:46:00+00');
INSERT INTO public.loaded_events VALUES ('partner', 'evt-7', '{"seat": "1/3"}', '2026-11-02 08:00:00+00');

INSERT INTO public.loaded_events_due OVERRIDING SYSTEM VALUE VALUES ('partner', 'evt-7', 'partner-sales', 1, 0, NULL, '2026-11-02 08:00:00+00', NULL);
INSERT INTO public.loaded_events_due OVERRIDING SYSTEM VALUE VALUES ('payments', 'evt_1', 'payments', 2, 9, 'no order', '2026-11-19 09:46:00+00', '2026-11-19 09:50:00+00');

INSERT INTO public.loader_balance VALUES ('payments', '2026-11-19 09:00:00+00', 4, 1, 2, 1, 0, 5);

INSERT INTO public.loader_sources VALUES ('payments', 'evt_1', 7, 1, 2, 1, 3, 4, 5, 6, '503', '2026-11-19 09:00:00+00', '2026-11-19 09:46:00+00', '2026-11-01 00:00:00+00');
INSERT INTO public.loader_sources VALUES ('partner', NULL, 0, 0, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, '2026-11-01 00:00:00+00');

INSERT INTO public.mailbox_messages OVERRIDING SYSTEM VALUE VALUES (1, 'email', 'ana@example.com', '01900000-0000-7000-8000-0000000000f1', 'ticket_delivery', 'Tvoje ulaznice', 'Bok Ana!', '<p>Bok Ana!</p>', '{ticket.pdf,"qr 1.svg"}', '2026-11-19 09:45:00+00');
INSERT INTO public.mailbox_messages OVERRIDING SYSTEM VALUE VALUES (2, 'push', 'token-1', NULL, 'match_reminder', 'Sutra', 'Hrvatska – Italija', NULL, '{}', '2026-11-19 09:46:00+00');

INSERT INTO public.match_reminders VALUES ('01900000-0000-7000-8000-000000000001', '2026-11-20 19:45:00+00', '2026-11-18 19:45:00+00');

INSERT INTO public.matches VALUES ('01900000-0000-7000-8000-000000000001', 'Hrvatska', 'Italija', 'Maksimir', '2026-11-20 19:45:00+00', 'EUR', 4, true, '2026-11-01 09:00:00+00', 'open', NULL, 120, 500, NULL, '2026-10-01 08:00:00+00', NULL, NULL);
INSERT INTO public.matches VALUES ('01900000-0000-7000-8000-000000000002', 'Hrvatska', 'Wales', 'Poljud', '2026-12-01 17:00:00+00', 'EUR', 6, false, NULL, 'closed', 'storm', 60, 0, '2026-10-05 10:00:00+00', '2026-10-02 08:00:00+00', '2026-10-09 12:00:00+00', 'storm “Đurđa”');

INSERT INTO public.migrations VALUES (1, 1, 'platform0000000000001');
INSERT INTO public.migrations VALUES (2, 2, 'inbox0000000000002');
INSERT INTO public.migrations VALUES (3, 3, 'catalog0000000000003');
INSERT INTO public.migrations VALUES (4, 4, 'notifications0000000000004');
INSERT INTO public.migrations VALUES (5, 5, 'purchase0000000000005');
INSERT INTO public.migrations VALUES (6, 6, 'payment0000000000006');
INSERT INTO public.migrations VALUES (7, 7, 'ticketing0000000000007');
INSERT INTO public.migrations VALUES (8, 8, 'fans0000000000008');
INSERT INTO public.migrations VALUES (9, 9, 'jobs0000000000009');
INSERT INTO public.migrations VALUES (10, 10, 'loader0000000000010');
INSERT INTO public.migrations VALUES (11, 11, 'blacklist0000000000011');
INSERT INTO public.migrations VALUES (12, 12, 'seat_versions0000000000012');
INSERT INTO public.migrations VALUES (13, 13, 'key_of_an_order0000000000013');
INSERT INTO public.migrations VALUES (14, 14, 'alerts0000000000014');
INSERT INTO public.migrations VALUES (15, 16, 'restored_queues0000000000016');

INSERT INTO public.order_intents VALUES ('pi_abcdefghijklmnopqrstuvwx', '01900000-0000-7000-8000-000000000041');

INSERT INTO public.order_timeline OVERRIDING SYSTEM VALUE VALUES (1, '01900000-0000-7000-8000-000000000041', '2026-11-19 09:42:00+00', 'placed');
INSERT INTO public.order_timeline OVERRIDING SYSTEM VALUE VALUES (2, '01900000-0000-7000-8000-000000000041', '2026-11-19 09:45:00+00', 'completed');

INSERT INTO public.orders VALUES ('01900000-0000-7000-8000-000000000041', 'HR-000001', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000031', '01900000-0000-7000-8000-0000000000f1', 'st_first', true, 'completed', 4500, 'EUR', 'ana@example.com', '[{"name": "Ana Anić"}]', 'sandbox', 'pi_abcdefghijklmnopqrstuvwx', 'secret_1', NULL, '2026-11-19 09:42:00+00', '2026-11-19 09:45:00+00', 0, 0, '01900000-0000-7000-8000-0000000000a1');
INSERT INTO public.orders VALUES ('01900000-0000-7000-8000-000000000042', 'HR-000002', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000033', '01900000-0000-7000-8000-0000000000f2', 'st_second', true, 'awaiting_payment', 2000, 'EUR', 'iva@example.com', '[{"name": "Iva O''Ivić"}]', 'sandbox', NULL, NULL, NULL, '2026-11-19 10:01:00+00', NULL, 0, 0, NULL);

INSERT INTO public.outbox OVERRIDING SYSTEM VALUE VALUES ('01900000-0000-7000-8000-000000000061', 1, 'email', 'order.completed', '01900000-0000-7000-8000-000000000041', '{"to": "ana@example.com", "cents": 4500}', NULL, '2026-11-19 09:45:00+00', '2026-11-19 09:45:00+00', 0, NULL, NULL, NULL, NULL);
INSERT INTO public.outbox OVERRIDING SYSTEM VALUE VALUES ('01900000-0000-7000-8000-000000000062', 2, 'push', 'match.moved', NULL, '{"range": [0, 500], "job_id": "b1"}', '01900000-0000-7000-8000-0000000000b1', '2026-11-19 09:45:00+00', '2026-11-19 09:45:00+00', 9, '410 gone', '2026-11-19 09:50:00+00', '[{"at": "2026-11-19T09:50:00Z", "error": "410 gone"}]', '2026-11-19 09:49:00+00');

INSERT INTO public.payment_inbox VALUES ('evt_1', 'payment_intent.succeeded', 'pi_abcdefghijklmnopqrstuvwx', 'completed', '2026-11-19 09:45:00+00', 4500, 'EUR');
INSERT INTO public.payment_inbox VALUES ('evt_2', 'charge.unknown', NULL, 'ignored', '2026-11-19 09:46:00+00', NULL, NULL);

INSERT INTO public.purchase_windows VALUES ('st_first', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000f1', '2026-11-19 09:55:00+00', '2026-11-19 09:45:00+00', 'completed', '2026-11-19 09:35:00+00', 1763544900000000);
INSERT INTO public.purchase_windows VALUES ('st_second', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000f2', '2026-11-19 10:15:00+00', NULL, NULL, '2026-11-19 09:55:00+00', NULL);

INSERT INTO public.push_progress VALUES ('push-1', '01900000-0000-7000-8000-0000000000b1', 2, NULL, '2026-11-19 09:45:00+00', '2026-11-19 09:46:00+00', '{0,1}', 1, 0);

INSERT INTO public.quarantined_events VALUES ('payments', '', 'MALFORMED', 'sha-3', 'not JSON', '{oops', '2026-11-19 09:46:00+00');

INSERT INTO public.queue_event_cursors VALUES ('01900000-0000-7000-8000-000000000001', '1763544900000-3');

INSERT INTO public.queue_generations VALUES ('01900000-0000-7000-8000-000000000001', 2);

INSERT INTO public.queued_jobs VALUES ('01900000-0000-7000-8000-000000000063', 'email', '{"to": "iva@example.com"}', 1, '2026-11-19 09:45:00+00');

INSERT INTO public.reservations VALUES ('01900000-0000-7000-8000-000000000031', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-0000000000f1', 'st_first', 'completed', '{01900000-0000-7000-8000-000000000021}', 1, 'Istok A', 4500, true, 4500, 'EUR', '2026-11-19 10:00:00+00', '2026-11-19 09:40:00+00', '2026-11-19 09:45:00+00', true);
INSERT INTO public.reservations VALUES ('01900000-0000-7000-8000-000000000032', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-0000000000f2', NULL, 'held', '{01900000-0000-7000-8000-000000000022}', 1, 'Istok A', 4500, true, 4500, 'EUR', '2026-11-19 10:10:00+00', '2026-11-19 09:50:00+00', NULL, false);
INSERT INTO public.reservations VALUES ('01900000-0000-7000-8000-000000000033', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000012', '01900000-0000-7000-8000-0000000000f2', 'st_second', 'ordered', '{01900000-0000-7000-8000-000000000024}', 1, 'Sjever', 2000, false, 2000, 'EUR', '2026-11-19 10:20:00+00', '2026-11-19 10:00:00+00', NULL, false);

INSERT INTO public.sandbox_intents VALUES ('pi_abcdefghijklmnopqrstuvwx', '01900000-0000-7000-8000-000000000041', 4500, 'EUR', 'succeeded', 'secret_1', '2026-11-19 09:42:00+00');

INSERT INTO public.sandbox_refunds VALUES ('refund-1', 'pi_abcdefghijklmnopqrstuvwx', 100, '2026-11-19 09:50:00+00');

INSERT INTO public.seat_blocks VALUES ('01900000-0000-7000-8000-000000000023', '01900000-0000-7000-8000-000000000001', 'partner', 'evt-7', 'P-42', '2026-11-02 08:00:00+00');

INSERT INTO public.seats VALUES ('01900000-0000-7000-8000-000000000021', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000011', '1', 1, 0, 0.5, 1.25, 0, 'sold', '01900000-0000-7000-8000-000000000031', NULL);
INSERT INTO public.seats VALUES ('01900000-0000-7000-8000-000000000022', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000011', '1', 2, 0, 1.5, 1.25, 1, 'held', '01900000-0000-7000-8000-000000000032', '2026-11-19 10:10:00+00');
INSERT INTO public.seats VALUES ('01900000-0000-7000-8000-000000000023', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000011', '1', 3, 0, 2.5, 1.25, 2, 'blocked', NULL, NULL);
INSERT INTO public.seats VALUES ('01900000-0000-7000-8000-000000000024', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000012', NULL, NULL, 0, NULL, NULL, 0, 'sold', '01900000-0000-7000-8000-000000000033', NULL);
INSERT INTO public.seats VALUES ('01900000-0000-7000-8000-000000000025', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000012', NULL, NULL, 1, NULL, NULL, 1, 'available', NULL, NULL);
INSERT INTO public.seats VALUES ('01900000-0000-7000-8000-000000000026', '01900000-0000-7000-8000-000000000002', '01900000-0000-7000-8000-000000000013', '1', 1, 0, 0, 0, 0, 'available', NULL, NULL);

INSERT INTO public.sectors VALUES ('01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-000000000001', 'Istok A', 'seated', 'E3', 4500, 3, 0);
INSERT INTO public.sectors VALUES ('01900000-0000-7000-8000-000000000012', '01900000-0000-7000-8000-000000000001', 'Sjever', 'standing', NULL, 2000, 2, 1);
INSERT INTO public.sectors VALUES ('01900000-0000-7000-8000-000000000013', '01900000-0000-7000-8000-000000000002', 'Zapad', 'seated', 'W1', 0, 1, 0);

INSERT INTO public.tickets VALUES ('01900000-0000-7000-8000-000000000051', '01900000-0000-7000-8000-000000000041', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000f1', '01900000-0000-7000-8000-000000000021', 'Istok A', '1', 1, 'Ana Anić', 'transferred', 1, '2026-11-19 09:45:00+00');
INSERT INTO public.tickets VALUES ('01900000-0000-7000-8000-000000000052', '01900000-0000-7000-8000-000000000041', '01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-0000000000f2', '01900000-0000-7000-8000-000000000021', 'Istok A', '1', 1, 'Iva Ivić', 'valid', 2, '2026-11-19 09:48:00+00');

SELECT pg_catalog.setval('public.alert_notes_id_seq', 2, true);

SELECT pg_catalog.setval('public.blacklist_changes_id_seq', 3, true);

SELECT pg_catalog.setval('public.job_interventions_id_seq', 1, true);

SELECT pg_catalog.setval('public.loaded_events_due_seq_seq', 2, true);

SELECT pg_catalog.setval('public.mailbox_messages_id_seq', 2, true);

SELECT pg_catalog.setval('public.migrations_id_seq', 15, true);

SELECT pg_catalog.setval('public.order_numbers', 2, true);

SELECT pg_catalog.setval('public.order_timeline_id_seq', 2, true);

SELECT pg_catalog.setval('public.outbox_seq_seq', 2, true);

SELECT pg_catalog.setval('public.seat_view_processes', 2, true);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT "PK_8c82d7f526340ab734260ea46be" PRIMARY KEY (id);

ALTER TABLE ONLY public.alert_notes
    ADD CONSTRAINT alert_notes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alert_notes
    ADD CONSTRAINT alert_notes_subject_key UNIQUE (subject, way);

ALTER TABLE ONLY public.blacklist_changes
    ADD CONSTRAINT blacklist_changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.blacklist
    ADD CONSTRAINT blacklist_entry_id_key UNIQUE (entry_id);

ALTER TABLE ONLY public.blacklist
    ADD CONSTRAINT blacklist_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.broadcast_devices
    ADD CONSTRAINT broadcast_devices_pkey PRIMARY KEY (broadcast_id, ordinal);

ALTER TABLE ONLY public.broadcasts
    ADD CONSTRAINT broadcasts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_one_a_token UNIQUE (fcm_token);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (user_id, device_id);

ALTER TABLE ONLY public.fan_seats
    ADD CONSTRAINT fan_seats_pkey PRIMARY KEY (user_id, match_id);

ALTER TABLE ONLY public.fans
    ADD CONSTRAINT fans_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (consumer, message_id);

ALTER TABLE ONLY public.job_interventions
    ADD CONSTRAINT job_interventions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.loaded_conflicts
    ADD CONSTRAINT loaded_conflicts_pkey PRIMARY KEY (source, event_id, subject);

ALTER TABLE ONLY public.loaded_events_due
    ADD CONSTRAINT loaded_events_due_pkey PRIMARY KEY (source, event_id);

ALTER TABLE ONLY public.loaded_events
    ADD CONSTRAINT loaded_events_pkey PRIMARY KEY (source, event_id);

ALTER TABLE ONLY public.loader_balance
    ADD CONSTRAINT loader_balance_pkey PRIMARY KEY (source, hour);

ALTER TABLE ONLY public.loader_sources
    ADD CONSTRAINT loader_sources_pkey PRIMARY KEY (source);

ALTER TABLE ONLY public.mailbox_messages
    ADD CONSTRAINT mailbox_messages_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.match_reminders
    ADD CONSTRAINT match_reminders_pkey PRIMARY KEY (match_id, kickoff_at);

ALTER TABLE ONLY public.matches
    ADD CONSTRAINT matches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.order_intents
    ADD CONSTRAINT order_intents_pkey PRIMARY KEY (intent_id);

ALTER TABLE ONLY public.order_timeline
    ADD CONSTRAINT order_timeline_pkey PRIMARY KEY (order_id, id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_number_key UNIQUE (number);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_reservation_id_key UNIQUE (reservation_id);

ALTER TABLE ONLY public.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.payment_inbox
    ADD CONSTRAINT payment_inbox_pkey PRIMARY KEY (event_id);

ALTER TABLE ONLY public.purchase_windows
    ADD CONSTRAINT purchase_windows_pkey PRIMARY KEY (session_token);

ALTER TABLE ONLY public.push_progress
    ADD CONSTRAINT push_progress_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY public.quarantined_events
    ADD CONSTRAINT quarantined_events_pkey PRIMARY KEY (source, event_id, code, digest);

ALTER TABLE ONLY public.queue_event_cursors
    ADD CONSTRAINT queue_event_cursors_pkey PRIMARY KEY (match_id);

ALTER TABLE ONLY public.queue_generations
    ADD CONSTRAINT queue_generations_pkey PRIMARY KEY (match_id);

ALTER TABLE ONLY public.queued_jobs
    ADD CONSTRAINT queued_jobs_pkey PRIMARY KEY (message_id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT reservations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sandbox_intents
    ADD CONSTRAINT sandbox_intents_one_an_order UNIQUE (order_id);

ALTER TABLE ONLY public.sandbox_intents
    ADD CONSTRAINT sandbox_intents_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sandbox_refunds
    ADD CONSTRAINT sandbox_refunds_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.seat_blocks
    ADD CONSTRAINT seat_blocks_pkey PRIMARY KEY (seat_id);

ALTER TABLE ONLY public.seats
    ADD CONSTRAINT seats_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sectors
    ADD CONSTRAINT sectors_name_once UNIQUE (match_id, name);

ALTER TABLE ONLY public.sectors
    ADD CONSTRAINT sectors_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets
    ADD CONSTRAINT tickets_pkey PRIMARY KEY (id);

CREATE INDEX alert_notes_told ON public.alert_notes USING btree (way, about, told_at) WHERE (told_at IS NOT NULL);

CREATE INDEX alert_notes_untold ON public.alert_notes USING btree (way, about) WHERE (told_at IS NULL);

CREATE INDEX blacklist_changes_by_fan ON public.blacklist_changes USING btree (user_id, id);

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING brin (created_at);

CREATE INDEX inbox_finished_at_idx ON public.inbox USING brin (finished_at);

CREATE INDEX job_interventions_by_job ON public.job_interventions USING btree (job_id, id);

CREATE INDEX jobs_done ON public.jobs USING btree (done_at) WHERE (done_at IS NOT NULL);

CREATE INDEX jobs_open ON public.jobs USING btree (id) WHERE (done_at IS NULL);

CREATE INDEX loaded_conflicts_open ON public.loaded_conflicts USING btree (source) WHERE (resolved_at IS NULL);

CREATE INDEX loaded_events_due_order ON public.loaded_events_due USING btree (seq) WHERE (parked_at IS NULL);

CREATE INDEX loaded_events_due_parked ON public.loaded_events_due USING btree (parked_at) WHERE (parked_at IS NOT NULL);

CREATE INDEX mailbox_messages_recipient_idx ON public.mailbox_messages USING btree (recipient, id DESC);

CREATE INDEX mailbox_messages_user_idx ON public.mailbox_messages USING btree (user_id, id DESC) WHERE (user_id IS NOT NULL);

CREATE INDEX matches_by_kickoff ON public.matches USING btree (kickoff_at, id);

CREATE INDEX orders_by_fan ON public.orders USING btree (user_id, id);

CREATE INDEX orders_by_match ON public.orders USING btree (match_id, id);

CREATE UNIQUE INDEX orders_one_a_window ON public.orders USING btree (session_token) WHERE claims_window;

CREATE INDEX outbox_aggregate ON public.outbox USING btree (aggregate_id, seq) WHERE ((parked_at IS NULL) AND (aggregate_id IS NOT NULL));

CREATE INDEX outbox_due ON public.outbox USING btree (destination, seq) WHERE (parked_at IS NULL);

CREATE INDEX outbox_parked ON public.outbox USING btree (id) WHERE (parked_at IS NOT NULL);

CREATE INDEX outbox_series ON public.outbox USING btree (destination, seq) WHERE ((parked_at IS NULL) AND (series IS NOT NULL));

CREATE INDEX purchase_windows_by_expiry ON public.purchase_windows USING btree (match_id, expires_at);

CREATE INDEX purchase_windows_by_fan ON public.purchase_windows USING btree (match_id, user_id);

CREATE INDEX push_progress_broadcast_idx ON public.push_progress USING btree (broadcast_id) WHERE (broadcast_id IS NOT NULL);

CREATE INDEX push_progress_finished_at_idx ON public.push_progress USING brin (finished_at);

CREATE INDEX queued_jobs_bundles ON public.queued_jobs USING btree (queue) INCLUDE (jobs) WHERE (jobs > 1);

CREATE INDEX reservations_by_window ON public.reservations USING btree (session_token) WHERE (session_token IS NOT NULL);

CREATE INDEX reservations_due ON public.reservations USING btree (expires_at) WHERE (NOT swept);

CREATE INDEX sandbox_refunds_by_intent ON public.sandbox_refunds USING btree (intent_id);

CREATE INDEX seats_by_match ON public.seats USING btree (match_id);

CREATE UNIQUE INDEX seats_by_sector ON public.seats USING btree (sector_id, rank);

CREATE INDEX sectors_by_match ON public.sectors USING btree (match_id, "position");

CREATE INDEX tickets_by_fan ON public.tickets USING btree (user_id, id);

CREATE INDEX tickets_by_order ON public.tickets USING btree (order_id, id);

CREATE UNIQUE INDEX tickets_one_a_seat ON public.tickets USING btree (match_id, seat_id) WHERE (status = ANY (ARRAY['valid'::text, 'used'::text]));

ALTER TABLE ONLY public.broadcast_devices
    ADD CONSTRAINT broadcast_devices_broadcast_fkey FOREIGN KEY (broadcast_id) REFERENCES public.broadcasts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sandbox_refunds
    ADD CONSTRAINT sandbox_refunds_intent_id_fkey FOREIGN KEY (intent_id) REFERENCES public.sandbox_intents(id);

ALTER TABLE ONLY public.sectors
    ADD CONSTRAINT sectors_match_id_fkey FOREIGN KEY (match_id) REFERENCES public.matches(id);
