import { layOut } from '#domain/catalog/stadium-layout';
import { newId } from '#platform/ids';
import { requestContext, type IdempotencyKey } from '#platform/logging/request-context';
import { openDatabase } from '#platform/postgres/database';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { createTestDatabase, type TestDatabase } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Reservation, SectorForSale } from '../../application/ports.ts';
import { PostgresSeatInventory } from '../../availability/outbound/postgres-seat-inventory.ts';
import { PostgresPurchaseWindows } from '../../turns/outbound/postgres-purchase-windows.ts';
import { GrantedTurns } from '../../turns/outbound/redis-granted-turns.ts';
import type { HoldOutcome } from '../application/ports.ts';
import { BatchedSeatHolds } from './batched-seat-holds.ts';
import { holdParameters } from './hold-parameters.ts';
import { HOLD_BATCH, HOLD_PLANNING, IS_FREE, type HoldRow } from './hold-statement.ts';
import { WriterConnection } from './writer-connection.ts';
import { NEWCOMER } from './postgres-fan-seats.ts';
import { SectorSnapshots } from './sector-snapshots.ts';

// Several processes of the hold path over one database, each with a memory of its own.

let database: TestDatabase;
let dataSource: DataSource;
let sector: SectorForSale;
let matchId: string;
const processes: BatchedSeatHolds[] = [];
const noTurns = { of: () => Promise.resolve(undefined) } as unknown as GrantedTurns;

beforeEach(async () => {
  database = await createTestDatabase();
  dataSource = await openDatabase({ url: database.url, name: 'test' });
  await sell({ rows: 5, seatsPerRow: 10 });
});

afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => one.close()));
  await dataSource.destroy();
  await database.drop();
});

/** A match without a queue, one sector, four seats a fan. */
async function sell({ rows, seatsPerRow }: { rows: number; seatsPerRow: number }): Promise<void> {
  matchId = newId();
  sector = {
    id: newId(),
    matchId,
    name: 'East',
    kind: 'seated',
    gate: null,
    priceCents: 1000,
    currency: 'EUR',
    capacity: rows * seatsPerRow,
  };
  await dataSource.query(
    `insert into matches (id, home, away, venue, kickoff_at, currency, max_tickets_per_fan, queue_required, sale_status, processing_rate, max_open_windows)
     values ($1, 'a', 'b', 'v', now() + interval '9 days', 'EUR', 4, false, 'open', 600, 1000)`,
    [matchId],
  );
  await dataSource.query(
    `insert into sectors (id, match_id, name, kind, price_cents, capacity, position) values ($1, $2, 'East', 'seated', 1000, $3, 0)`,
    [sector.id, matchId, sector.capacity],
  );
  const transactions = new PostgresTransactionManager(dataSource, { deadlineMs: 10_000 });
  const places = layOut({ kind: 'seated', rows, seatsPerRow }, 0, 1);
  await transactions.run((tx) => new PostgresSeatInventory(dataSource).layOut(tx, matchId, [{ sectorId: sector.id, places }]));
}

function process({ holdSeconds = 600 } = {}): BatchedSeatHolds {
  const lane = new WriterConnection({ url: database.url, name: 'holds', planning: HOLD_PLANNING, onRetry: () => undefined });
  const one = new BatchedSeatHolds(
    [lane],
    new SectorSnapshots(dataSource),
    new PostgresPurchaseWindows(dataSource, noTurns),
    holdSeconds,
  );
  processes.push(one);
  return one;
}

function wish(holds: BatchedSeatHolds, quantity: number, userId = randomUUID()): Promise<HoldOutcome> {
  return holds.take({ matchId, userId, sessionToken: undefined, sector, quantity });
}

const taken = (outcomes: readonly HoldOutcome[]) =>
  outcomes.flatMap((outcome) => (outcome.kind === 'taken' ? [outcome.reservation] : []));

/** What the tables say: seats with a holder, each listed by exactly one reservation, and nobody else's. */
async function seatsHeld(): Promise<number> {
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

test('three processes and 120 fans want 50 seats: all are sold, none twice, nobody gets half', async () => {
  const replicas = [process(), process(), process()];
  const outcomes = await Promise.all(
    Array.from({ length: 120 }, (_, fan) => wish(replicas[fan % 3] ?? process(), 1 + (fan % 3))),
  );
  const reservations = taken(outcomes);
  const seats = reservations.flatMap((reservation) => reservation.seats.map(({ seatId }) => seatId));
  expect(new Set(seats).size).toBe(seats.length);
  expect(await seatsHeld()).toBe(seats.length);
  expect(seats.length).toBeGreaterThanOrEqual(48);
  // What is left is fewer than anybody who was refused wanted, or was still changing hands when they asked.
  for (const outcome of outcomes) expect(['taken', 'none', 'lost']).toContain(outcome.kind);
});

test('in a rush at both lanes of a process a fan gets no more than the limit, and seats that many name have one owner', async () => {
  const holds = process();
  const fans = Array.from({ length: 12 }, () => randomUUID());
  const named = await dataSource.query<{ id: string }[]>(`select id from seats where sector_id = $1 order by rank limit 2`, [
    sector.id,
  ]);
  const seatIds = named.map(({ id }) => id);
  const outcomes = await Promise.allSettled([
    ...fans.flatMap((fan) => [1, 2, 3].map(() => wish(holds, 2, fan))),
    ...Array.from({ length: 40 }, () => holds.take({ matchId, userId: randomUUID(), sessionToken: undefined, sector, seatIds })),
  ]);
  const reservations = taken(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : [])));
  const seats = reservations.flatMap((reservation) => reservation.seats.map(({ seatId }) => seatId));
  expect([new Set(seats).size, await seatsHeld()]).toEqual([seats.length, seats.length]);
  for (const fan of fans) expect(reservations.filter(({ userId }) => userId === fan)).toHaveLength(2);
});

test('a wish that breaks a rule fails alone', async () => {
  const holds = process();
  const greedy = randomUUID();
  const outcomes = await Promise.allSettled([
    wish(holds, 2),
    wish(holds, 5, greedy),
    wish(holds, 2),
    wish(holds, 4, greedy),
    wish(holds, 1, greedy),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'rejected']);
  expect(outcomes[1]).toMatchObject({ reason: { code: 'TICKET_LIMIT_REACHED', data: { limit: 4, rest: 4 } } });
  expect(outcomes[4]).toMatchObject({ reason: { code: 'TICKET_LIMIT_REACHED', data: { limit: 4, rest: 0 } } });

  expect(await seatsHeld()).toBe(8);
});

test('what a key made is committed with the seats, and its answer says what was committed', async () => {
  const fence = idempotencyKeyOf('a0eebc999c0b4ef8bb6d6bb9bd380a11');
  const outcome = await withIdempotencyKey(fence, () => wish(process(), 2));
  const rows = await dataSource.query<object[]>(
    `select k.status, body, made, r.expires_at from idempotency_keys k join reservations r on r.id = k.made where key = $1`,
    [fence.key],
  );
  const [{ id, expiresAt }] = taken([outcome]) as [Reservation];
  expect(rows).toEqual([{ status: 201, body: null, made: id, expires_at: expiresAt }]);
  expect(JSON.parse(fence.stored?.body ?? '')).toEqual({ id, expires_at: expiresAt.toISOString() });
});

test('a key that was used meanwhile fails alone: the others of its batch get their seats', async () => {
  const holds = process();
  const used = idempotencyKeyOf('b0eebc999c0b4ef8bb6d6bb9bd380a11');
  await withIdempotencyKey(used, () => wish(holds, 1));
  const outcomes = await Promise.allSettled([
    wish(holds, 2),
    withIdempotencyKey(idempotencyKeyOf(used.key), () => wish(holds, 2)),
    withIdempotencyKey(idempotencyKeyOf('c0eebc999c0b4ef8bb6d6bb9bd380a11'), () => wish(holds, 2)),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toMatchObject({ reason: { key: used.key } });
  expect(await seatsHeld()).toBe(5);
});

test('its connection is cut again and again while it commits: every answer is true, no seat is taken twice', async () => {
  const holds = process();
  await sell({ rows: 20, seatsPerRow: 40 });
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
      return wish(holds, 2);
    }),
  );
  cutting = false;
  await cutter;
  const won = taken(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])));
  const [row] = (await dataSource.query(`select count(*)::int as n from reservations where id = any($1::uuid[])`, [
    won.map(({ id }) => id),
  ])) as { n: number }[];
  expect(row?.n).toBe(won.length);
  // Whoever was not answered has nothing: no reservation is there that nobody was told of.
  expect(await seatsHeld()).toBe(won.length * 2);
  expect(won.length).toBeGreaterThan(100);
});

test('without a database everybody who waits is told at once, and nobody waits for 30 attempts to connect', async () => {
  const lane = new WriterConnection({
    url: 'postgres://nobody@127.0.0.1:1/none',
    name: 'holds',
    planning: HOLD_PLANNING,
    onRetry: () => undefined,
  });
  let attempts = 0;
  const look = lane.look.bind(lane);
  lane.look = (statement) => {
    attempts += 1;
    return look(statement);
  };
  const holds = new BatchedSeatHolds(
    [lane],
    new SectorSnapshots(dataSource),
    new PostgresPurchaseWindows(dataSource, noTurns),
    600,
  );
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => wish(holds, 1)));
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'DEPENDENCY_UNAVAILABLE' } });
  expect(attempts).toBeLessThan(5);
});

test('holds that were abandoned are for sale again within a second of their end', async () => {
  const quick = process({ holdSeconds: 1 });
  await Promise.all(Array.from({ length: 25 }, () => wish(quick, 2)));
  expect(await seatsHeld()).toBe(50);
  expect((await wish(quick, 2)).kind).toBe('none');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const startedAt = Date.now();
  let again: HoldOutcome = { kind: 'none' };
  // However slow the machine is: the last request leaves when the second is over.
  for (let sentAfter = 0; again.kind !== 'taken' && sentAfter < 1000;) {
    sentAfter = Date.now() - startedAt;
    again = await wish(quick, 4);
  }
  expect(again.kind).toBe('taken');
});

test('rows that moved since memory looked are found again, for who names a seat and for who does not', async () => {
  const holds = process();
  await wish(holds, 1);
  const touchAll = () => dataSource.query(`update seats set x = x where status = 'available'`);
  await touchAll();
  expect((await wish(holds, 2)).kind).toBe('taken');
  await touchAll();
  const [{ id }] = await dataSource.query<[{ id: string }]>(
    `select id from seats where status = 'available' order by rank desc limit 1`,
  );
  const named = await holds.take({ matchId, userId: randomUUID(), sessionToken: undefined, sector, seatIds: [id] });
  expect(taken([named])[0]?.seats.map(({ seatId }) => seatId)).toEqual([id]);
  expect(await seatsHeld()).toBe(4);
});

describe('while the row of a fan is locked', () => {
  const fan = '0190a000-0000-7000-8000-0000000000ff';
  let side: QueryRunner;
  let holds: BatchedSeatHolds;

  beforeEach(async () => {
    holds = process();
    await wish(holds, 1, fan);
    side = dataSource.createQueryRunner();
    await side.startTransaction();
    await side.query('select 1 from fan_seats where user_id = $1 for update', [fan]);
  });
  afterEach(() => side.release());

  test('nobody else waits for it, and who is the fan is told so in the end', async () => {
    const begunAt = Date.now();
    const locked = wish(holds, 1, fan).then((outcome) => ({ outcome, ms: Date.now() - begunAt }));
    const others = await Promise.all(Array.from({ length: 20 }, () => wish(holds, 1)));
    const othersMs = Date.now() - begunAt;
    expect(taken(others)).toHaveLength(20);
    const { outcome, ms } = await locked;
    await side.rollbackTransaction();
    expect(outcome).toEqual({ kind: 'lost', taken: [], busy: [] });
    expect(othersMs).toBeLessThan(ms - 1000);
  });

  test('and when it is free again within two seconds, the fan has the seats', async () => {
    const locked = wish(holds, 1, fan);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await side.rollbackTransaction();
    expect(await locked).toMatchObject({ kind: 'taken' });
  });
});

describe('the same statement without its guard', () => {
  /** Takes seats as memory has them: nobody is locked out, and nobody asks whether they are free. */
  const UNGUARDED = HOLD_BATCH.replace(
    `where s.ctid = any($9::tid[]) and ${IS_FREE}\n  for no key update skip locked`,
    'where s.id = any($8::uuid[]) and $9::tid[] is not null',
  );

  function row(seats: readonly { seatId: string; place: string }[]): HoldRow {
    return {
      reservationId: newId(),
      sector,
      userId: randomUUID(),
      sessionToken: null,
      seats: [...seats.keys()],
      seatRows: { idOf: (seat) => seats[seat]!.seatId, ctidOf: (seat) => seats[seat]!.place },
      quantity: seats.length,
      together: true,
      fan: NEWCOMER,
      key: null,
    };
  }

  async function sellTwice(statement: string): Promise<{ seats: number; places: number }> {
    const seats = await freeSeats();
    const lane = new WriterConnection({ url: database.url, name: 'holds', planning: HOLD_PLANNING, onRetry: () => undefined });
    // The second one's memory is stale: it still has the seats as free.
    for (const stale of [row(seats), row(seats)]) {
      await lane.commit({ name: 'hold', text: statement, values: holdParameters([stale], 600) }, () =>
        Promise.resolve(undefined),
      );
    }
    await lane.close();
    return sold();
  }

  const freeSeats = () =>
    dataSource.query<{ seatId: string; place: string }[]>(
      `select id as "seatId", ctid::text as place from seats where sector_id = $1 order by rank limit 2`,
      [sector.id],
    );

  async function sold(): Promise<{ seats: number; places: number }> {
    const [counted] = (await dataSource.query(
      `select count(*)::int as seats, count(distinct seat_id)::int as places from reservation_seats`,
    )) as {
      seats: number;
      places: number;
    }[];
    return counted ?? { seats: 0, places: 0 };
  }

  async function inOneBatch(statement: string): Promise<{ seats: number; places: number }> {
    const seats = await freeSeats();
    const lane = new WriterConnection({ url: database.url, name: 'holds', planning: HOLD_PLANNING, onRetry: () => undefined });
    const values = holdParameters([row(seats), row(seats)], 600);
    await lane.commit({ name: 'hold', text: statement, values }, () => Promise.resolve(undefined)).finally(() => lane.close());
    return sold();
  }

  test('two of one batch that name the same seats: with its last column nothing of the batch happens', async () => {
    await expect(inOneBatch(HOLD_BATCH)).rejects.toMatchObject({ code: '22012' });
    expect([await sold(), await seatsHeld()]).toEqual([{ seats: 0, places: 0 }, 0]);
    expect(await dataSource.query('select 1 from reservations union all select 1 from fan_seats')).toEqual([]);
  });

  test('without it they are sold twice', async () => {
    const withoutLastColumn = HOLD_BATCH.replace(/,\s+1 \/ \(case when .*"eachSeatOnce"/, '');
    expect(await inOneBatch(withoutLastColumn)).toEqual({ seats: 4, places: 2 });
  });

  test('a stale memory sells seats twice', async () => {
    expect(await sellTwice(UNGUARDED)).toEqual({ seats: 4, places: 2 });
  });

  test('and with it, once', async () => {
    expect(await sellTwice(HOLD_BATCH)).toEqual({ seats: 2, places: 2 });
  });
});

function idempotencyKeyOf(key: string): IdempotencyKey {
  return {
    key,
    fingerprint: 'f'.repeat(32),
    userId: randomUUID(),
    render: (result) => {
      const { id, expiresAt } = result as { id: string; expiresAt: Date };
      return { status: 201, body: JSON.stringify({ id, expires_at: expiresAt.toISOString() }), location: `/r/${id}` };
    },
  };
}

function withIdempotencyKey<T>(fence: IdempotencyKey, work: () => Promise<T>): Promise<T> {
  return requestContext.run({ requestId: 'r', deadlineAt: Date.now() + 10_000, fence }, work);
}
