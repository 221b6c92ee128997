import { openDatabase } from '#platform/postgres/database';
import type { DataSource } from 'typeorm';
import { putOnSale } from '../../../testing/whole-monolith.ts';
import { openBoxOffice, type BoxOffice, type OpenBoxOffice } from '../../testing/box-office.ts';
import { expireDueReservations } from './expire-due.ts';

// Which concurrent commits the expiry sweeper sees, and with which transaction settings it runs.

/**
 * Id of an advisory lock (any number). While the test holds this lock, LOCK_DUE_RESERVATIONS stops between taking its snapshot and
 * locking its rows.
 */
const PAUSE_LOCK = 4711;

/**
 * A session with this search path finds a view `reservations` instead of the table. The condition of the view waits for the
 * advisory lock: after a row was found in the snapshot and before the row is locked.
 */
const PAUSED_RESERVATIONS = `
  create schema paused;
  create function paused.passes() returns boolean language plpgsql volatile cost 100000 as $$ begin
    perform pg_advisory_lock_shared(${PAUSE_LOCK});
    perform pg_advisory_unlock_shared(${PAUSE_LOCK});
    return true;
  end $$;
  create view paused.reservations as select * from public.reservations where paused.passes()`;

let opened: OpenBoxOffice;
let office: BoxOffice;
let pausable: DataSource;

beforeAll(async () => {
  opened = await openBoxOffice();
  office = opened.office;
  await office.rows(PAUSED_RESERVATIONS);
  const options = encodeURIComponent('-c search_path=paused,public');
  pausable = await openDatabase({ url: `${opened.settings.DATABASE_URL}?options=${options}`, name: 'pausable', poolSize: 1 });
});
afterAll(async () => {
  await pausable.destroy();
  await opened.close();
});

async function waitUntil(condition: string, parameters: readonly unknown[] = []): Promise<void> {
  const giveUpAt = Date.now() + 10_000;
  while ((await office.rows(`select 1 where ${condition}`, parameters)).length === 0) {
    if (Date.now() > giveUpAt) throw new Error(`never became true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const waitsFor = (lock: string): string =>
  `exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = '${lock}')`;

test('expiry sweeper: when a checkout commits after the sweeper’s first snapshot and before it locks rows, the order of the checkout ends with the hold', async () => {
  const match = await putOnSale(office.monolith);
  const held = await office.held(match);
  await office.rows(`update reservations set expires_at = now() + interval '2 seconds' where id = $1`, [held.id]);
  await office.rows(`update seats set expires_at = now() + interval '2 seconds' where reservation_id = $1`, [held.id]);
  const [rowLocker, pauser] = [office.monolith.dataSource.createQueryRunner(), office.monolith.dataSource.createQueryRunner()];
  await rowLocker.startTransaction();
  await rowLocker.query('select 1 from reservations where id = $1 for update', [held.id]);
  await pauser.query('select pg_advisory_lock($1)', [PAUSE_LOCK]);

  const checkout = office.checkOut(held);
  await waitUntil(waitsFor('transactionid'));
  await waitUntil('exists (select from reservations where id = $1 and expires_at <= now())', [held.id]);
  const sweeping = expireDueReservations(pausable, 200, undefined);
  await waitUntil(waitsFor('advisory'));
  await rowLocker.rollbackTransaction();
  const { status, json } = await checkout;
  expect([status, json.status]).toEqual([201, 'awaiting_payment']);
  await pauser.query('select pg_advisory_unlock($1)', [PAUSE_LOCK]);
  await sweeping;
  await expireDueReservations(office.monolith.dataSource, 200, undefined);
  await Promise.all([rowLocker.release(), pauser.release()]);

  expect([await office.reservation(held), await office.holderOf(held.seatIds[0] ?? '')]).toEqual([
    'expired',
    { status: 'available', reservation_id: null },
  ]);
  expect((await office.order({ orderId: json.order_id, intentId: '', held })).status).toBe('expired');
  expect(await office.outbox(held.id)).toHaveLength(1);
});

test('expiry sweeper: its transaction is READ COMMITTED with a lock timeout of 8 s; the settings of its connection do not change', async () => {
  const settings = `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock_timeout`;
  await office.rows(`create table seen as ${settings} limit 0`);
  await office.rows(`create function note_settings() returns trigger language plpgsql as $$ begin
    insert into seen ${settings};
    return new;
  end $$`);
  await office.rows(`create trigger noted before update on seats for each row execute function note_settings()`);
  // An operator may set another default. The expiry sweeper must not depend on this default.
  await pausable.query(`set default_transaction_isolation = 'serializable'`);
  const held = await office.held(await putOnSale(office.monolith));
  await office.lapse(held);
  await office.rows('truncate seen');
  expect(await expireDueReservations(pausable, 200, undefined)).toEqual({ examined: 1, ended: 1 });
  expect(await office.rows('select * from seen')).toEqual([{ isolation: 'read committed', lock_timeout: '8s' }]);
  expect(await pausable.query(settings)).toEqual([{ isolation: 'serializable', lock_timeout: '0' }]);
});
