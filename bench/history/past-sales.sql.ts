import type { HistorySize } from './history-size.ts';
import { leftoverFillings, messageFillings } from './past-messages.sql.ts';
import { fanFillings, holdFillings, orderFillings } from './past-orders.sql.ts';
import { IS_CANCELLED, quotaFillings, SECTORS, stadiumFillings } from './past-stadiums.sql.ts';

/*
 * Statements that add past matches with their sales. Everything is computed from the number of the row, so nothing is read back: match m
 * of all matches, order n of all orders, order i of its match, place `rank` of its sector. `past_order` is a temporary table with one row
 * for each order, from which the other tables are filled.
 */

/**
 * `past_id`: a UUID of version 7 with this time, and with digits that look random. `past_opening`: when the sale of a match began.
 * `past_fan`: the fan with this number; every fifth order is the first of its fan.
 */
const functions = ({ matches, ordersOfMatch, days }: HistorySize): string => {
  const fans = Math.max(2 * ordersOfMatch, Math.ceil((matches * ordersOfMatch) / 5));
  return `
    create function pg_temp.past_id(kind text, n bigint, at timestamptz) returns uuid language sql immutable as $$
      select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || overlay(left(md5(kind || n), 19) placing '8' from 4 for 1))::uuid $$;
    create function pg_temp.past_opening(m bigint) returns timestamptz language sql stable as $$
      select date_trunc('hour', now()) - interval '3 days' - (${matches} - 1 - m) * interval '${days} days' / ${matches} $$;
    create function pg_temp.past_fan(m bigint, i bigint) returns bigint language sql immutable as $$ select (m * 7919 + i) % ${fans} $$;
    create function pg_temp.past_name(n bigint) returns text language sql immutable as $$
      select (array['Ana','Ivan','Đurđica','Marko','Petra','Josip','Štefica','Luka','Grace','Tomás'])[1 + n % 10] || ' ' ||
             (array['Horvat','Kovačević','Babić','Marić','Jurić','Novak','Kovačić','Đorđević','Okafor','Šćepanović','Perić'])[1 + n % 11]
             || coalesce(' ' || chr(65 + (n / 110 % 26)::int), '') $$;
    create function pg_temp.past_email(fan bigint) returns text language sql immutable as $$
      select (array['ana','ivan','durdica','marko','petra','josip','stefica','luka','grace','tomas'])[1 + fan % 10] || '.' || fan ||
             (array['@example.com','@Example.hr','@mail.example.org'])[1 + fan % 3] $$;`;
};

/**
 * 90 % of the orders are completed, 5 % each expired and cancelled. One match of 50 was cancelled, so its orders are refunded: all refunds
 * lie together and far back. Every second match had a waiting room.
 */
const PAST_ORDERS = ({ matches, ordersOfMatch }: HistorySize): string => `
  create temp table past_order as
  select n, m, i, s, status, at, match_id, fan, md5('fan' || fan)::uuid as user_id, pg_temp.past_id('sector', m * ${SECTORS} + s, pg_temp.past_opening(m)) as sector_id,
         pg_temp.past_id('reservation', n, at) as reservation_id, pg_temp.past_id('order', n, at + interval '20 seconds') as id,
         1 + k % 2 as quantity, 2000 + 500 * s as price, case when m % 2 = 1 then 'st_' || md5('turn' || n) end as session_token,
         'pi_' || left(md5('intent' || n), 24) as intent_id,
         array(select pg_temp.past_id('seat', (m * ${SECTORS} + s) * 1000000 + 3 * (k / 2) + k % 2 + p, pg_temp.past_opening(m))
               from generate_series(0, k % 2) as p) as seat_ids
  from (select n, m, i, i % ${SECTORS} as s, i / ${SECTORS} as k, pg_temp.past_fan(m, i) as fan,
               pg_temp.past_id('match', m, pg_temp.past_opening(m)) as match_id,
               pg_temp.past_opening(m) + i * interval '1 hour' / ${ordersOfMatch} as at,
               case when part >= 95 then 'expired' when part >= 90 then 'cancelled' when ${IS_CANCELLED} then 'refunded' else 'completed' end as status
        from (select n, n / ${ordersOfMatch} as m, n % ${ordersOfMatch} as i, abs(hashint8(n)::bigint) % 100 as part
              from generate_series(0::bigint, ${matches * ordersOfMatch - 1}) as n) numbered) placed`;

/** One step of loading a history. A step with a table adds the rows of `sql` to it. */
export interface HistoryStep {
  readonly sql: string;
  readonly table?: string;
}

/** All steps in the order in which they run. */
export function historySteps(size: HistorySize): readonly HistoryStep[] {
  const ofMatches = [...stadiumFillings(size), ...quotaFillings(size)];
  const ofFans = [...fanFillings, ...holdFillings(size), ...orderFillings];
  const leftovers = [...messageFillings(size), ...leftoverFillings(size)];
  return [
    { sql: functions(size) },
    { sql: PAST_ORDERS(size) },
    { sql: 'analyze past_order' },
    ...[...ofMatches, ...ofFans, ...leftovers].map(([table, sql]) => ({ table, sql })),
    { sql: `select setval('order_numbers', ${size.matches * size.ordersOfMatch + 1})` },
    { sql: 'drop table past_order' },
  ];
}
