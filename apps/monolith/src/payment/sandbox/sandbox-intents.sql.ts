import type { NewSandboxIntent } from '../domain/sandbox-intent.ts';
import { namedSql } from '#platform/postgres/named-sql';

/*
 * The payment intents of the sandbox, the simulated payment provider (table `sandbox_intents`). Guarantee: an order has one
 * intent, however often an intent is requested for it.
 */

const COLUMNS = `id, order_id as "orderId", amount_cents as "amountCents", currency, status, client_secret as "clientSecret"`;

/** Adds a payment intent, unless its order already has one. Returns the order's intent in both cases. */
export const ADD_INTENT_ONCE = namedSql<NewSandboxIntent>(
  'add-sandbox-intent',
  `
  insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
  values (:id, :orderId, :amountCents, :currency, :clientSecret)
  -- This update changes no value. Without it, "returning" would not return an intent that existed before.
  on conflict (order_id) do update set order_id = excluded.order_id
  returning ${COLUMNS}`,
);

/**
 * Adds payment intents of different orders; `intents` is a JSON array of NewSandboxIntent. An order that already has an intent keeps it.
 * Returns only the added intents.
 */
export const ADD_NEW_INTENTS = namedSql<{ readonly intents: string }>(
  'add-new-sandbox-intents',
  `
  insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
  select id, "orderId", "amountCents", currency, "clientSecret"
  from jsonb_to_recordset(:intents::jsonb) as i(id text, "orderId" uuid, "amountCents" integer, currency text, "clientSecret" text)
  on conflict (order_id) do nothing returning ${COLUMNS}`,
);

/** Reads and locks one payment intent. Waits while another transaction has locked it. */
export const LOCK_INTENT = namedSql<{ readonly intentId: string }>(
  'lock-sandbox-intent',
  `select ${COLUMNS} from sandbox_intents where id = :intentId for update`,
);

/** Reads and locks payment intents. Does not wait: intents that another transaction has locked are missing from the result. */
export const LOCK_AVAILABLE_INTENTS = namedSql<{ readonly intentIds: readonly string[] }>(
  'lock-available-sandbox-intents',
  `select ${COLUMNS} from sandbox_intents where id = any(:intentIds) for update skip locked`,
);

/** Sets the status of payment intents. The caller must have locked them. */
export const SET_INTENT_STATUS = namedSql<{ readonly intentIds: readonly string[]; readonly status: string }>(
  'set-sandbox-intent-status',
  `update sandbox_intents set status = :status where id = any(:intentIds)`,
);
