import { NO_UNPAID_HOLDS } from '#domain/purchase/hold-cooldown';
import { randomUUID } from 'node:crypto';
import { openDatabase } from '#platform/postgres/database';
import { newId } from '#platform/ids';
import { namedSql } from '#platform/postgres/named-sql';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Reservation, SectorForSale } from '../../application/ports.ts';
import { seatIsFree } from '../../seat-is-free.api.ts';
import { openHoldQueue, openSale, writerConnection } from '../../testing/hold-queues.ts';
import type { HoldOutcome } from '../application/ports.ts';
import { FAN_WITHOUT_SEATS } from './fan-seats.sql.ts';
import { holdBatchParameters, type HoldBatchParameters, type HoldRow } from './hold-batch-parameters.ts';
import { HOLD_BATCH_SQL } from './hold-batch.sql.ts';
import type { HoldQueue } from './hold-queue.ts';

// Hold queues of several processes on one database. Each process has its own sector snapshots.

let database: TestDatabase;
let dataSource: DataSource;
let sector: SectorForSale;
const queues: HoldQueue[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test' });
  sector = await openSale(dataSource, 5, 10);
});

afterEach(async () => {
  await Promise.all(queues.splice(0).map((queue) => queue.onApplicationShutdown()));
  await dataSource.destroy();
  await database.close();
});

function openQueue({ holdSeconds = 600 } = {}): HoldQueue {
  const queue = openHoldQueue(dataSource, writerConnection(database.url), { holdSeconds });
  queues.push(queue);
  return queue;
}

function holdBest(queue: HoldQueue, quantity: number, userId = randomUUID(), key?: string): Promise<HoldOutcome> {
  const idempotencyKey = key === undefined ? undefined : { key, fingerprint: 'f'.repeat(32) };
  return queue.hold({ matchId: sector.matchId, userId, sessionToken: undefined, sector, quantity, idempotencyKey });
}

function holdChosen(queue: HoldQueue, seatIds: readonly string[]): Promise<HoldOutcome> {
  return queue.hold({ matchId: sector.matchId, userId: randomUUID(), sessionToken: undefined, sector, seatIds });
}

const reservationsOf = (outcomes: readonly HoldOutcome[]): Reservation[] =>
  outcomes.flatMap((outcome) => (outcome.kind === 'held' ? [outcome.reservation] : []));

const fulfilled = <T>(results: readonly PromiseSettledResult<T>[]): T[] =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

/**
 * Number of held seats in the database. Fails unless each held seat is listed by exactly one reservation: the one that the seat's
 * row names.
 */
async function heldSeats(): Promise<number> {
  const [row] = (await dataSource.query(`
    select (select count(*) from seats where status = 'held')::int as held,
           (select count(*) from reservation_seats)::int as listed, (select count(distinct seat_id) from reservation_seats)::int as distinct,
           (select count(*) from seats s join reservation_seats rs on rs.seat_id = s.id and rs.reservation_id = s.reservation_id)::int as agreed`)) as {
    held: number;
    listed: number;
    distinct: number;
    agreed: number;
  }[];
  expect(row).toEqual({ held: row?.held, listed: row?.held, distinct: row?.held, agreed: row?.held });
  return row?.held ?? 0;
}

test('hold queue: three processes, 120 fans, 50 seats: no seat is held twice, and no request gets only a part of its seats', async () => {
  const replicas = [openQueue(), openQueue(), openQueue()];
  const outcomes = await Promise.all(Array.from({ length: 120 }, (_, fan) => holdBest(replicas[fan % 3]!, 1 + (fan % 3))));
  const reservations = reservationsOf(outcomes);
  const seats = reservations.flatMap((reservation) => reservation.seats.map(({ seatId }) => seatId));
  expect(new Set(seats).size).toBe(seats.length);
  expect(await heldSeats()).toBe(seats.length);
  expect(seats.length).toBeGreaterThanOrEqual(48);
  for (const outcome of outcomes) expect(['held', 'none', 'lost']).toContain(outcome.kind);
});

test('hold queue: concurrent requests of the same fans stay within the ticket limit, and seats that 40 fans chose have one owner', async () => {
  const holds = openQueue();
  const fans = Array.from({ length: 12 }, () => randomUUID());
  const named = await dataSource.query<{ id: string }[]>(`select id from seats where sector_id = $1 order by rank limit 2`, [
    sector.id,
  ]);
  const seatIds = named.map(({ id }) => id);
  const outcomes = await Promise.allSettled([
    ...fans.flatMap((fan) => [1, 2, 3].map(() => holdBest(holds, 2, fan))),
    ...Array.from({ length: 40 }, () => holdChosen(holds, seatIds)),
  ]);
  const reservations = reservationsOf(fulfilled(outcomes));
  const seats = reservations.flatMap((reservation) => reservation.seats.map(({ seatId }) => seatId));
  expect([new Set(seats).size, await heldSeats()]).toEqual([seats.length, seats.length]);
  for (const fan of fans) expect(reservations.filter(({ userId }) => userId === fan)).toHaveLength(2);
});

test('hold queue: only the request that breaks a rule is refused; the other requests of its batch are held', async () => {
  const holds = openQueue();
  const greedy = randomUUID();
  const outcomes = await Promise.allSettled([
    holdBest(holds, 2),
    holdBest(holds, 5, greedy),
    holdBest(holds, 2),
    holdBest(holds, 4, greedy),
    holdBest(holds, 1, greedy),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'rejected']);
  expect(outcomes[1]).toMatchObject({ reason: { code: 'TICKET_LIMIT_REACHED', data: { limit: 4, rest: 4 } } });
  expect(outcomes[4]).toMatchObject({ reason: { code: 'TICKET_LIMIT_REACHED', data: { limit: 4, rest: 0 } } });

  expect(await heldSeats()).toBe(8);
});

test('hold queue: the idempotency key is committed with the hold, and names its reservation', async () => {
  const key = 'a0eebc999c0b4ef8bb6d6bb9bd380a11';
  const outcome = await holdBest(openQueue(), 2, randomUUID(), key);
  const rows = await dataSource.query<object[]>(
    `select k.status, body, made, r.expires_at from idempotency_keys k join reservations r on r.id = k.made where key = $1`,
    [key],
  );
  const [{ id, expiresAt }] = reservationsOf([outcome]) as [Reservation];
  expect(rows).toEqual([{ status: 201, body: null, made: id, expires_at: expiresAt }]);
});

test('hold queue: only the request whose idempotency key is already used fails; the other requests of its batch are held', async () => {
  const holds = openQueue();
  const used = 'b0eebc999c0b4ef8bb6d6bb9bd380a11';
  await holdBest(holds, 1, randomUUID(), used);
  const outcomes = await Promise.allSettled([
    holdBest(holds, 2),
    holdBest(holds, 2, randomUUID(), used),
    holdBest(holds, 2, randomUUID(), 'c0eebc999c0b4ef8bb6d6bb9bd380a11'),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: { key: used } });
  expect(await heldSeats()).toBe(5);
});

test('hold queue: while connections are cut during commits, exactly the requests answered as held have a reservation', async () => {
  const holds = openQueue();
  sector = await openSale(dataSource, 20, 40);
  let cutting = true;
  const cutter = (async () => {
    for (let cut = 0; cut < 12 && cutting; cut += 1) {
      await dataSource.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tribina-holds' and datname = current_database()`,
      );
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  })();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 150 }, async (_, fan) => {
      await new Promise((resolve) => setTimeout(resolve, fan));
      return holdBest(holds, 2);
    }),
  );
  cutting = false;
  await cutter;
  const won = reservationsOf(fulfilled(outcomes));
  const [row] = (await dataSource.query(`select count(*)::int as n from reservations where id = any($1::uuid[])`, [
    won.map(({ id }) => id),
  ])) as { n: number }[];
  expect(row?.n).toBe(won.length);
  // Requests that were answered with an error hold no seats.
  expect(await heldSeats()).toBe(won.length * 2);
  expect(won.length).toBeGreaterThan(100);
});

test('hold queue: without a database all waiting requests fail after one attempt to connect, not after one attempt each', async () => {
  const connection = writerConnection('postgres://nobody@127.0.0.1:1/none');
  let attempts = 0;
  const read = connection.read.bind(connection);
  connection.read = (statement) => {
    attempts += 1;
    return read(statement);
  };
  const holds = openHoldQueue(dataSource, connection);
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => holdBest(holds, 1)));
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'DEPENDENCY_UNAVAILABLE' } });
  expect(attempts).toBeLessThan(5);
});

test('hold queue: seats of expired holds are for sale again within a second', async () => {
  const quick = openQueue({ holdSeconds: 1 });
  await Promise.all(Array.from({ length: 25 }, () => holdBest(quick, 2)));
  expect(await heldSeats()).toBe(50);
  expect((await holdBest(quick, 2)).kind).toBe('none');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const startedAt = Date.now();
  let again: HoldOutcome = { kind: 'none' };
  // Repeats the request until it succeeds. Gives up only when a request that was sent at least 1,000 ms after `startedAt`
  // is refused, so a slow machine cannot make the test fail.
  for (let sentAfter = 0; again.kind !== 'held' && sentAfter < 1000;) {
    sentAfter = Date.now() - startedAt;
    again = await holdBest(quick, 4);
  }
  expect(again.kind).toBe('held');
});

test('hold queue: seats whose rows moved since the last refresh are held, whether or not the fan chose them', async () => {
  const holds = openQueue();
  await holdBest(holds, 1);
  const touchAll = () => dataSource.query(`update seats set x = x where status = 'available'`);
  await touchAll();
  expect((await holdBest(holds, 2)).kind).toBe('held');
  await touchAll();
  const [{ id }] = await dataSource.query<[{ id: string }]>(
    `select id from seats where status = 'available' order by rank desc limit 1`,
  );
  const chosen = await holdChosen(holds, [id]);
  expect(reservationsOf([chosen])[0]?.seats.map(({ seatId }) => seatId)).toEqual([id]);
  expect(await heldSeats()).toBe(4);
});

describe('hold queue while another transaction has locked the row of a fan', () => {
  const fan = '0190a000-0000-7000-8000-0000000000ff';
  let side: QueryRunner;
  let holds: HoldQueue;

  beforeEach(async () => {
    holds = openQueue();
    await holdBest(holds, 1, fan);
    side = dataSource.createQueryRunner();
    await side.startTransaction();
    await side.query('select 1 from fan_seats where user_id = $1 for update', [fan]);
  });
  afterEach(() => side.release());

  test('seats are held for other fans at once; the request of this fan is refused later, and no seat is named as taken', async () => {
    const begunAt = Date.now();
    const locked = holdBest(holds, 1, fan).then((outcome) => ({ outcome, ms: Date.now() - begunAt }));
    const others = await Promise.all(Array.from({ length: 20 }, () => holdBest(holds, 1)));
    const othersMs = Date.now() - begunAt;
    expect(reservationsOf(others)).toHaveLength(20);
    const { outcome, ms } = await locked;
    await side.rollbackTransaction();
    expect(outcome).toEqual({ kind: 'lost', taken: [], busy: [] });
    expect(othersMs).toBeLessThan(ms - 1000);
  });

  test('seats are held for this fan if the lock ends within two seconds', async () => {
    const locked = holdBest(holds, 1, fan);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await side.rollbackTransaction();
    expect(await locked).toMatchObject({ kind: 'held' });
  });
});

describe('statement HOLD_BATCH, with and without its protections', () => {
  const guards = `where s.ctid = any(:seatCtids::tid[]) and ${seatIsFree('s')}\n  for no key update skip locked`;
  /** HOLD_BATCH without its protections: it locks no seat, and does not check that the seats are free. */
  const WITHOUT_LOCK = HOLD_BATCH_SQL.replace(guards, 'where s.id = any(:seatIds::uuid[]) and :seatCtids::tid[] is not null');
  const WITHOUT_LAST_COLUMN = HOLD_BATCH_SQL.replace(/,\s+1 \/ \(case when .*"eachSeatOnce"/, '');

  function rowFor(seats: readonly { seatId: string; ctid: string }[]): HoldRow {
    return {
      reservationId: newId(),
      request: { matchId: sector.matchId, sector, userId: randomUUID(), sessionToken: undefined, quantity: seats.length },
      proposed: [...seats.keys()],
      snapshot: { idOf: (seatIndex) => seats[seatIndex]!.seatId, ctidOf: (seatIndex) => seats[seatIndex]!.ctid },
      together: true,
      fan: FAN_WITHOUT_SEATS,
      unpaid: NO_UNPAID_HOLDS,
    };
  }

  const twoFreeSeats = () =>
    dataSource.query<{ seatId: string; ctid: string }[]>(
      `select id as "seatId", ctid::text as ctid from seats where sector_id = $1 order by rank limit 2`,
      [sector.id],
    );

  async function run(sql: string, batches: readonly (readonly HoldRow[])[]): Promise<void> {
    const connection = writerConnection(database.url);
    const statement = namedSql<HoldBatchParameters>('hold', sql);
    try {
      for (const batch of batches)
        await connection.commit(statement.with(holdBatchParameters(batch, 600)), () => Promise.resolve(undefined));
    } finally {
      await connection.close();
    }
  }

  async function reservedSeats(): Promise<{ listed: number; different: number }> {
    const [counted] = await dataSource.query<{ listed: number; different: number }[]>(
      `select count(*)::int as listed, count(distinct seat_id)::int as different from reservation_seats`,
    );
    return counted!;
  }

  test('two requests of one batch for the same seats: the check in the last column (each seat once) makes the statement fail, and nothing is committed', async () => {
    const seats = await twoFreeSeats();
    await expect(run(HOLD_BATCH_SQL, [[rowFor(seats), rowFor(seats)]])).rejects.toMatchObject({ code: '22012' });
    expect([await reservedSeats(), await heldSeats()]).toEqual([{ listed: 0, different: 0 }, 0]);
    expect(await dataSource.query('select 1 from reservations union all select 1 from fan_seats')).toEqual([]);
  });

  test('negative control: without the check in its last column the statement holds the same seats twice', async () => {
    const seats = await twoFreeSeats();
    await run(WITHOUT_LAST_COLUMN, [[rowFor(seats), rowFor(seats)]]);
    expect(await reservedSeats()).toEqual({ listed: 4, different: 2 });
  });

  test('a second batch with a stale snapshot does not hold the seats again', async () => {
    const seats = await twoFreeSeats();
    await run(HOLD_BATCH_SQL, [[rowFor(seats)], [rowFor(seats)]]);
    expect(await reservedSeats()).toEqual({ listed: 2, different: 2 });
  });

  test('negative control: if the statement neither locks nor checks the seats, a stale snapshot holds the same seats twice', async () => {
    const seats = await twoFreeSeats();
    await run(WITHOUT_LOCK, [[rowFor(seats)], [rowFor(seats)]]);
    expect(await reservedSeats()).toEqual({ listed: 4, different: 2 });
  });
});
