import { createLogger } from '#platform/logging/logger';
import { queueKeys } from '#contracts/queue-keys';
import { openDatabase } from '#platform/postgres/database';
import { closeRedis, connectRedis, type RedisConnection, whenReady } from '#platform/redis/redis-connection';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { eraseOldMatches } from './erase-old-matches.ts';
import type { FanErasures } from './fan-erasures.ts';
import { Retention } from './retention.ts';
import { retentionRules } from './retention-rules.ts';

let testDatabase: TestDatabase;
let database: DataSource;
let testRedis: TestRedis;
let redis: RedisConnection;
let retention: Retention;

beforeAll(async () => {
  [testDatabase, testRedis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  redis = connectRedis(testRedis.url, { name: 'retention-test' });
  await whenReady(redis);
  // An operator may have changed the default isolation level.
  const options = encodeURIComponent('-c default_transaction_isolation=serializable');
  database = await openDatabase({ url: `${testDatabase.url}?options=${options}`, name: 'retention-test', poolSize: 3 });
  // Fans are erased in another test: tests/privacy.
  const erasures = { runOnce: () => Promise.resolve(0) } as unknown as FanErasures;
  retention = new Retention(database, redis, erasures, createLogger({ service: 'test', level: 'silent' }));
  await database.query(`create table recorded_settings (isolation text, lock_timeout text)`);
  await database.query(`create function record_settings() returns trigger language plpgsql as $$ begin
    insert into recorded_settings values (current_setting('transaction_isolation'), current_setting('lock_timeout'));
    return coalesce(new, old);
  end $$`);
});
afterAll(async () => {
  await closeRedis(redis);
  await database.destroy();
  await Promise.all([testDatabase.close(), testRedis.close()]);
});

/** For each rule: its table, an id of its rows as text, and SQL that inserts a row of the age `$1`. */
const rowsOf: Readonly<Record<string, { readonly table: string; readonly id: string; readonly insert: string }>> = {
  'answers to repeated requests': {
    table: 'idempotency_keys',
    id: 'key',
    insert: `insert into idempotency_keys (key, user_id, fingerprint, created_at)
             values (gen_random_uuid(), gen_random_uuid(), 'f', now() - $1::interval)`,
  },
  'marks of processed messages': {
    table: 'inbox',
    id: 'message_id',
    insert: `insert into inbox (consumer, message_id, finished_at, attempts) values ('email', gen_random_uuid(), now() - $1::interval, 1)`,
  },
  'progress of pushes': {
    table: 'push_progress',
    id: 'message_id',
    insert: `insert into push_progress (message_id, devices, claimed_at) values (gen_random_uuid(), 1, now() - $1::interval)`,
  },
  'pushes to many fans': {
    table: 'broadcasts',
    id: 'id::text',
    insert: `insert into broadcasts (id, template, devices, created_at) values (gen_random_uuid(), 't', 1, now() - $1::interval)`,
  },
  'copies of queued mails and pushes': {
    table: 'queued_jobs',
    id: 'message_id::text',
    insert: `insert into queued_jobs (message_id, queue, body, queued_at) values (gen_random_uuid(), 'email', '{}', now() - $1::interval)`,
  },
  'alerts that were told': {
    table: 'alert_notes',
    id: 'id::text',
    insert: `insert into alert_notes (way, about, text, noted_at) values ('mail', 'a', 't', now() - $1::interval)`,
  },
  'deliveries to webhooks': {
    table: 'webhook_deliveries',
    id: 'id::text',
    insert: `with webhook as (
               insert into webhooks (id, url, events, secret, created_by)
               values (gen_random_uuid(), 'https://example.hr', '{}', 's', gen_random_uuid()) returning id
             )
             insert into webhook_deliveries (id, webhook_id, event_id, type, subject_id, body, created_at, state, delivered_at)
             select gen_random_uuid(), id, gen_random_uuid(), 'order.completed', gen_random_uuid(), '{}', now() - $1::interval, 'delivered', now()
             from webhook`,
  },
  'messages in the mailbox': {
    table: 'mailbox_messages',
    id: 'id::text',
    insert: `insert into mailbox_messages (channel, recipient, template, subject, text, sent_at)
             values ('email', 'ana@example.hr', 't', 's', 't', now() - $1::interval)`,
  },
  'retries and drops of jobs': {
    table: 'job_interventions',
    id: 'id::text',
    insert: `insert into job_interventions (queue, job_id, action, by, at) values ('email', '1', 'drop', 'o', now() - $1::interval)`,
  },
  'malformed events': {
    table: 'quarantined_events',
    id: 'digest',
    insert: `insert into quarantined_events (source, code, digest, detail, content, quarantined_at)
             values ('s', 'c', gen_random_uuid(), 'd', 'c', now() - $1::interval)`,
  },
  'resolved conflicts with other systems': {
    table: 'loaded_conflicts',
    id: 'subject',
    insert: `insert into loaded_conflicts (source, event_id, subject, code, detail, resolved_at)
             values ('s', '1', gen_random_uuid(), 'c', 'd', now() - $1::interval)`,
  },
  'content of loaded events': {
    table: `(select * from loaded_events where payload <> '{"erased": true}')`,
    id: 'event_id',
    insert: `insert into loaded_events (source, event_id, payload, loaded_at) values ('s', gen_random_uuid(), '{"a": 1}', now() - $1::interval)`,
  },
  'history of the blacklist': {
    table: 'blacklist_changes',
    id: 'id::text',
    insert: `insert into blacklist_changes (user_id, action, by, at) values (gen_random_uuid(), 'list', gen_random_uuid(), now() - $1::interval)`,
  },
  'audit log': {
    table: 'audit_log',
    id: 'id::text',
    insert: `insert into audit_log (id, at, actor, roles, action, target_type, request_id, address)
             values (gen_random_uuid(), now() - $1::interval, 'o', '{ops}', 'listOrders', 'order', 'r', '127.0.0.1')`,
  },
  'finished erasures': {
    table: 'erasures',
    id: 'id::text',
    insert: `insert into erasures (id, user_id, requested_at, done_at)
             values (gen_random_uuid(), gen_random_uuid(), now() - $1::interval, now() - $1::interval)`,
  },
};

describe.each(retentionRules)('the rule "$name", which keeps rows for $keeps', ({ name, keeps }) => {
  const { table, id, insert } = rowsOf[name]!;
  const realTable = /from (\w+)/.exec(table)?.[1] ?? table;
  const ids = async (): Promise<string[]> =>
    (await database.query<{ id: string }[]>(`select ${id} as id from ${table} t order by 1`)).map((row) => row.id);
  const rowsDeleted = async (): Promise<number> => (await retention.runRules()).find((report) => report.name === name)!.rows;
  /** Three rows that are just too old and one that is not. The young one is the newest. */
  const insertRows = async (): Promise<void> => {
    await database.query(`truncate ${realTable} cascade`);
    const aged = (more: string): string => insert.replaceAll('$1::interval', `(interval '${keeps}' + interval '${more}')`);
    for (let row = 0; row < 3; row += 1) await database.query(aged('1 minute'));
    await database.query(aged('-10 minutes'));
  };

  test('what is old goes, what is young stays, and a locked row waits for the next run', async () => {
    await insertRows();
    const all = await ids();
    const holder = database.createQueryRunner();
    await holder.startTransaction();
    const [locked] = (await holder.query(
      `select ${id} as id from ${realTable} where ctid = (select min(ctid) from ${realTable}) for update`,
    )) as {
      id: string;
    }[];
    const first = await rowsDeleted();
    const remaining = await ids();
    await holder.rollbackTransaction();
    await holder.release();
    expect([first, remaining.length, remaining.includes(locked!.id), all.length]).toEqual([2, 2, true, 4]);
    expect([await rowsDeleted(), (await ids()).length]).toEqual([1, 1]);
  });

  test('it runs at READ COMMITTED with a lock timeout of 8 s, whatever the default is', async () => {
    await insertRows();
    await database.query('truncate recorded_settings');
    await database.query(
      `create trigger recording before delete or update on ${realTable} for each row execute function record_settings()`,
    );
    expect(await rowsDeleted()).toBe(3);
    await database.query(`drop trigger recording on ${realTable}`);
    expect(await database.query('select distinct isolation, lock_timeout from recorded_settings')).toEqual([
      { isolation: 'read committed', lock_timeout: '8s' },
    ]);
  });
});

test('an erasing does not wait for the rules', async () => {
  const holder = database.createQueryRunner();
  await holder.startTransaction();
  // Stops the rules at their first statement.
  await holder.query('lock table matches in access exclusive mode');
  const stop = new AbortController();
  let looks = 0;
  const erasures = { runOnce: () => Promise.resolve((looks += 1)) } as unknown as FanErasures;
  const job = new Retention(database, redis, erasures, createLogger({ service: 'test', level: 'silent' }));
  const alive = Promise.withResolvers<void>();
  const ended = job.runUntil(stop.signal, alive.resolve);
  await alive.promise;
  expect(looks).toBe(1);
  await holder.rollbackTransaction();
  await holder.release();
  stop.abort();
  await ended;
});

test('each rule has rows to try it on', () => {
  expect(Object.keys(rowsOf).sort()).toEqual(retentionRules.map(({ name }) => name).sort());
});

test('a rule deletes more rows than one batch has', async () => {
  await database.query('truncate idempotency_keys');
  await database.query(
    `insert into idempotency_keys (key, user_id, fingerprint, created_at)
     select n::text, gen_random_uuid(), 'f', now() - interval '73 hours' from generate_series(1, 2300) n`,
  );
  const [answers] = (await retention.runRules()).filter(({ name }) => name === 'answers to repeated requests');
  expect(answers?.rows).toBe(2300);
});

test('of the blacklist, the newest change and the changes of listed fans stay, however old they are', async () => {
  await database.query('truncate blacklist, blacklist_changes');
  const listed = randomUUID();
  await database.query(
    `insert into blacklist (user_id, entry_id, reason, listed_by, listed_at) values ($1, gen_random_uuid(), 'r', gen_random_uuid(), now())`,
    [listed],
  );
  const change = `insert into blacklist_changes (user_id, action, by, at) values ($1, 'list', gen_random_uuid(), now() - interval '9 years')`;
  for (const fan of [listed, randomUUID(), randomUUID()]) await database.query(change, [fan]);
  await retention.runRules();
  const [kept] = await database.query<{ n: number }[]>('select count(*)::int as n from blacklist_changes');
  expect(kept?.n).toBe(2);
});

/** Adds a match with a line, whose kick-off is so long from now. */
const matchAt = async (kickoff: string): Promise<string> => {
  const id = randomUUID();
  await database.query(
    `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows)
     values ($1, 'H', 'A', 'V', now() + $2::interval, 'EUR', 4, true, 'closed', 600, 1000)`,
    [id, kickoff],
  );
  return id;
};

test('what happened in a line is deleted 30 days after kick-off, and not before', async () => {
  const [old, young] = [await matchAt('-31 days'), await matchAt('-29 days')];
  for (const matchId of [old, young])
    for (const key of [queueKeys.events(matchId), queueKeys.audit(matchId)]) await redis.xadd(key, '*', 'event', '{}');
  const reports = await retention.runRules();
  expect(reports.find(({ name }) => name === 'what happened in lines of past matches')?.rows).toBe(2);
  expect(await redis.exists(queueKeys.events(old), queueKeys.audit(old))).toBe(0);
  expect(await redis.exists(queueKeys.events(young), queueKeys.audit(young))).toBe(2);
});

describe('names and addresses of past matches', () => {
  const orderOf = async (matchId: string): Promise<void> => {
    await database.query(
      `with made as (
         insert into orders (id, number, match_id, reservation_id, user_id, claims_window, status, total_cents, currency, email, holders, provider,
                             client_secret)
         values (gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), false, 'completed', 2500, 'EUR',
                 'ana@example.hr', '[{"name": "Ana"}]', 'sandbox', 'secret') returning *
       )
       insert into tickets (id, order_id, match_id, user_id, seat_id, sector, holder_name)
       select gen_random_uuid(), id, match_id, user_id, gen_random_uuid(), 'A', 'Ana' from made`,
      [matchId],
    );
  };
  const emailsOf = async (matchId: string): Promise<string[]> =>
    (await database.query<{ email: string }[]>('select email from orders where match_id = $1', [matchId])).map(
      ({ email }) => email,
    );

  test('are erased a year after kick-off, once, and not before', async () => {
    const [old, young] = [await matchAt('-366 days'), await matchAt('-364 days')];
    for (let n = 0; n < 600; n += 1) await orderOf(old);
    await orderOf(young);
    expect(await eraseOldMatches(database)).toBe(1200);
    expect(new Set(await emailsOf(old))).toEqual(new Set(['']));
    expect(await emailsOf(young)).toEqual(['ana@example.hr']);
    expect(await database.query('select distinct holder_name from tickets where match_id = $1', [old])).toEqual([
      { holder_name: '' },
    ]);
    expect(await eraseOldMatches(database)).toBe(0);
  });

  test('a run that is stopped is continued by the next one', async () => {
    const match = await matchAt('-400 days');
    await orderOf(match);
    expect(await eraseOldMatches(database, AbortSignal.abort())).toBe(0);
    expect(await emailsOf(match)).toEqual(['ana@example.hr']);
    expect(await eraseOldMatches(database)).toBe(2);
  });
});
