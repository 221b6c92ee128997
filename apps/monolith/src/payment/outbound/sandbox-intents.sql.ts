import { namedSql } from '#platform/postgres/named-sql';

/*
 * The intents of the sandbox (`sandbox_intents`). Guarantee: an order has one intent, however often it is asked for.
 */

const COLUMNS = `id, order_id as "orderId", amount_cents as "amountCents", currency, status, client_secret as "clientSecret"`;

interface NewIntent {
  readonly id: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly clientSecret: string;
}

/** Returns the order's intent: the new one, or the one it has. */
export const ADD_INTENT_ONCE = namedSql<NewIntent>(
  'add-sandbox-intent',
  `
  insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
  values (:id, :orderId, :amountCents, :currency, :clientSecret)
  -- The update changes nothing. Without it, returning would not return an intent that existed before.
  on conflict (order_id) do update set order_id = excluded.order_id
  returning ${COLUMNS}`,
);

/** Adds intents, a JSON array, of different orders. It returns the new ones, not those of orders that had one. */
export const ADD_NEW_INTENTS = namedSql<{ readonly intents: string }>(
  'add-new-sandbox-intents',
  `
  insert into sandbox_intents (id, order_id, amount_cents, currency, client_secret)
  select id, "orderId", "amountCents", currency, "clientSecret"
  from jsonb_to_recordset(:intents::jsonb) as i(id text, "orderId" uuid, "amountCents" integer, currency text, "clientSecret" text)
  on conflict (order_id) do nothing returning ${COLUMNS}`,
);

/** Waits for the intent's lock. */
export const LOCK_INTENT = namedSql<{ readonly intentId: string }>(
  'lock-sandbox-intent',
  `select ${COLUMNS} from sandbox_intents where id = :intentId for update`,
);

/** Does not wait: intents that another transaction has locked are left out. */
export const LOCK_AVAILABLE_INTENTS = namedSql<{ readonly intentIds: readonly string[] }>(
  'lock-available-sandbox-intents',
  `select ${COLUMNS} from sandbox_intents where id = any(:intentIds) for update skip locked`,
);

/** The caller has locked the intents. */
export const SET_INTENT_STATUS = namedSql<{ readonly intentIds: readonly string[]; readonly status: string }>(
  'set-sandbox-intent-status',
  `update sandbox_intents set status = :status where id = any(:intentIds)`,
);
