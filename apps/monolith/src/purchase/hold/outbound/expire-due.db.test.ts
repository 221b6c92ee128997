import { openDatabase } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import { putOnSale } from '../../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../testing/box-office.ts';
import { expireDue } from './expire-due.ts';

// What a sweep sees of transactions that commit while it runs, and under which settings it runs.

/** Any number: while the test has this advisory lock, a sweep stops between its snapshot and the locks of its rows. */
const GATE = 4711;

/**
 * A session with this search path finds a view in place of the table. Its condition is evaluated when the row was found in the
 * snapshot and is not locked yet, and there it waits for the gate.
 */
const GATED_RESERVATIONS = `
  create schema gated;
  create function gated.passes() returns boolean language plpgsql volatile cost 100000 as $$ begin
    perform pg_advisory_lock_shared(${GATE});
    perform pg_advisory_unlock_shared(${GATE});
    return true;
  end $$;
  create view gated.reservations as select * from public.reservations where gated.passes()`;

let opened: OpenBoxOffice;
let office: BoxOffice;
let gated: DataSource;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  await office.rows(GATED_RESERVATIONS);
  const options = encodeURIComponent('-c search_path=gated,public');
  gated = await openDatabase({ url: `${opened.settings.DATABASE_URL}?options=${options}`, name: 'gated', poolSize: 1 });
});
afterAll(async () => {
  await gated.destroy();
  await opened.close();
});

async function until(condition: string, parameters: readonly unknown[] = []): Promise<void> {
  const giveUpAt = Date.now() + 10_000;
  while ((await office.rows(`select 1 where ${condition}`, parameters)).length === 0) {
    if (Date.now() > giveUpAt) throw new Error(`never: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const waitsFor = (lock: string): string =>
  `exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = '${lock}')`;

test('a checkout that commits after the snapshot of the sweep and before its lock: its order ends with the hold', async () => {
  const match = await putOnSale(office.monolith);
  const held = await office.held(match);
  await office.rows(`update reservations set expires_at = now() + interval '2 seconds' where id = $1`, [held.id]);
  await office.rows(`update seats set expires_at = now() + interval '2 seconds' where reservation_id = $1`, [held.id]);
  const [holder, gate] = [office.monolith.dataSource.createQueryRunner(), office.monolith.dataSource.createQueryRunner()];
  await holder.startTransaction();
  await holder.query('select 1 from reservations where id = $1 for update', [held.id]);
  await gate.query('select pg_advisory_lock($1)', [GATE]);

  const checkout = office.checkOut(held);
  await until(waitsFor('transactionid'));
  await until('exists (select from reservations where id = $1 and expires_at <= now())', [held.id]);
  const sweep = expireDue(gated, 200, undefined);
  await until(waitsFor('advisory'));
  await holder.rollbackTransaction();
  const { status, json } = await checkout;
  expect([status, json.status]).toEqual([201, 'awaiting_payment']);
  await gate.query('select pg_advisory_unlock($1)', [GATE]);
  await sweep;
  await expireDue(office.monolith.dataSource, 200, undefined);
  await Promise.all([holder.release(), gate.release()]);

  expect([await office.reservation(held), await office.holderOf(held.seatIds[0] ?? '')]).toEqual([
    'expired',
    { status: 'available', reservation_id: null },
  ]);
  expect((await office.order({ orderId: json.order_id, intentId: '', held })).status).toBe('expired');
  expect(await office.outbox(held.id)).toHaveLength(1);
});

test('a sweep runs at READ COMMITTED with a lock timeout of 8 s, and leaves neither on its connection', async () => {
  const settings = `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock_timeout`;
  await office.rows(`create table seen as ${settings} limit 0`);
  await office.rows(`create function note_settings() returns trigger language plpgsql as $$ begin
    insert into seen ${settings};
    return new;
  end $$`);
  await office.rows(`create trigger noted before update on seats for each row execute function note_settings()`);
  // As an operator may set it: the sweep does not depend on it.
  await gated.query(`set default_transaction_isolation = 'serializable'`);
  const held = await office.held(await putOnSale(office.monolith));
  await office.lapse(held);
  await office.rows('truncate seen');
  expect(await expireDue(gated, 200, undefined)).toEqual({ examined: 1, ended: 1 });
  expect(await office.rows('select * from seen')).toEqual([{ isolation: 'read committed', lock_timeout: '8s' }]);
  expect(await gated.query(settings)).toEqual([{ isolation: 'serializable', lock_timeout: '0' }]);
});
