import { developmentSecrets } from '#platform/config/settings';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { newKey } from '../testing/test-app.ts';
import { openMonolith, ops, putOnSale, seated, type WholeMonolith } from '../testing/whole-monolith.ts';
import { QueueStandIn } from '../waiting-room/testing/queue-stand-in.ts';

let database: TestDatabase;
let redis: TestRedis;
let queue: QueueStandIn;
let monolith: WholeMonolith;
let other: WholeMonolith;

beforeAll(async () => {
  queue = new QueueStandIn(developmentSecrets.INTERNAL_AUTH_SECRET);
  const [url] = await Promise.all([
    queue.open(),
    createTestDatabase().then((it) => (database = it)),
    createTestRedis().then((it) => (redis = it)),
  ]);
  const settings = { DATABASE_URL: database.url, REDIS_URL: redis.url, QUEUE_INTERNAL_URL: url };
  [monolith, other] = await Promise.all([openMonolith(settings), openMonolith(settings)]);
});
afterAll(async () => {
  await Promise.all([monolith.close(), other.close()]);
  await Promise.all([queue.close(), database.drop(), redis.close()]);
});
beforeEach(() => {
  queue.mood = 'well';
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const scheduled = (facts = {}) => putOnSale(monolith, { queue_required: true, opens_at: inDays(1), ...facts });
const sale = (matchId: string, action: string, more: { reason?: string; key?: string } = {}, on = monolith) =>
  on.call('POST', `/api/v1/ops/matches/${matchId}/sale`, {
    ...ops,
    body: { action, ...(more.reason ? { reason: more.reason } : {}) },
    key: more.key ?? newKey(),
  });
const tune = (matchId: string, body: unknown) => monolith.call('PUT', `/api/v1/ops/matches/${matchId}/queue`, { ...ops, body });
const patch = (matchId: string, body: unknown) => monolith.call('PATCH', `/api/v1/ops/matches/${matchId}`, { ...ops, body });
const read = async (matchId: string) => (await monolith.call('GET', `/api/v1/matches/${matchId}`)).json;
const stored = async (matchId: string) =>
  (
    await monolith.dataSource.query<Record<string, unknown>[]>(
      `select sale_status, pause_reason, processing_rate, max_open_windows, home from matches where id = $1`,
      [matchId],
    )
  )[0];

describe('the sale', () => {
  const legal: Record<string, Record<string, string>> = {
    scheduled: { open: 'open', close: 'closed' },
    open: { open: 'open', pause: 'paused', resume: 'open', close: 'closed' },
    paused: { pause: 'paused', resume: 'open', close: 'closed' },
    sold_out: { close: 'closed' },
    closed: { open: 'open', close: 'closed' },
  };
  const inQueue: Record<string, string> = { scheduled: 'scheduled', open: 'active', paused: 'paused', closed: 'closed' };

  test.each(Object.keys(legal).flatMap((from) => ['open', 'pause', 'resume', 'close'].map((action) => [from, action] as const)))(
    '%s, %s: as the table of states has it, and the queue follows',
    async (from, action) => {
      const { id } = await scheduled();
      await monolith.dataSource.query(`update matches set sale_status = $2 where id = $1`, [id, from]);
      const { status, json } = await sale(id, action);
      const to = legal[from]?.[action];
      if (to) {
        expect([status, json.sale.status, (await read(id)).sale.status]).toEqual([200, to, to]);
        expect(queue.lastControl(id)?.status).toBe(inQueue[to]);
      } else {
        expect([status, json.code, json.sale_status]).toEqual([409, 'INVALID_STATE', from]);
        expect([(await stored(id))?.sale_status, queue.lastControl(id)]).toEqual([from, undefined]);
      }
    },
  );

  test('paused says why, until it goes on', async () => {
    const { id } = await scheduled();
    await sale(id, 'open');
    expect((await sale(id, 'pause', { reason: 'The gates are jammed' })).json.pause_reason).toBe('The gates are jammed');
    expect(queue.lastControl(id)).toMatchObject({ status: 'paused', reason: 'The gates are jammed' });
    expect((await sale(id, 'pause')).json.pause_reason).toBe('The gates are jammed');
    expect((await sale(id, 'resume')).json.pause_reason).toBeNull();
    expect(queue.lastControl(id)).toMatchObject({ status: 'active', reason: null });
  });

  test('whose hour has come is open, and stays so when its hour is moved', async () => {
    const { id } = await scheduled({ opens_at: inDays(-1) });
    expect((await read(id)).sale.status).toBe('open');
    expect((await patch(id, { opens_at: inDays(1) })).json.sale.status).toBe('open');
    expect([(await read(id)).sale.status, queue.lastControl(id)?.status]).toEqual(['open', 'active']);
    expect((await sale(id, 'pause')).json.sale.status).toBe('paused');
  });

  test('the same again, with the same key, is the same answer and nothing is told twice', async () => {
    const { id } = await scheduled();
    const key = newKey();
    const first = await sale(id, 'open', { key });
    const again = await sale(id, 'open', { key });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
    expect(queue.controls.get(id)).toHaveLength(1);
  });

  test('of a match without a queue is nobody else’s business', async () => {
    queue.mood = 'down';
    const { id } = await scheduled({ queue_required: false });
    expect((await sale(id, 'open')).json.sale.status).toBe('open');
    expect(queue.lastControl(id)).toBeUndefined();
  });
});

describe('a cancelled match', () => {
  const cancel = (matchId: string, key = newKey()) =>
    monolith.call('POST', `/api/v1/ops/matches/${matchId}/cancel`, { ...ops, body: { reason: 'Snow' }, key });

  test.each(['scheduled', 'open', 'paused', 'sold_out', 'closed'])('%s before: closed, and the queue follows', async (from) => {
    const { id } = await scheduled();
    await monolith.dataSource.query(`update matches set sale_status = $2 where id = $1`, [id, from]);
    const { status, json } = await cancel(id);
    expect([status, json.sale.status, json.cancel_reason, json.pause_reason]).toEqual([200, 'closed', 'Snow', null]);
    expect([(await read(id)).sale.status, queue.lastControl(id)?.status]).toEqual(['closed', 'closed']);
    const controls = queue.controls.get(id)?.length;
    for (const action of ['open', 'pause', 'resume']) expect((await sale(id, action)).json.code).toBe('INVALID_STATE');
    expect(queue.controls.get(id)?.length).toBe(controls);
  });

  test('is not cancelled while the waiting room does not take it, and the same key works when it is back', async () => {
    const { id } = await scheduled();
    const key = newKey();
    queue.mood = 'down';
    expect((await cancel(id, key)).json.code).toBe('DEPENDENCY_UNAVAILABLE');
    expect((await read(id)).cancelled_at).toBeNull();
    queue.mood = 'well';
    expect((await cancel(id, key)).json.sale.status).toBe('closed');
  });

  test('at the same moment as it is opened: it is closed, whoever came first', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await scheduled();
      const [cancelled, opened] = await Promise.all([cancel(id), sale(id, 'open', {}, other)]);
      expect(cancelled.status).toBe(200);
      expect([200, 409]).toContain(opened.status);
      expect([(await read(id)).sale.status, queue.lastControl(id)?.status]).toEqual(['closed', 'closed']);
    }
  });
});

describe('a waiting room that does not take it', () => {
  test.each(['down', 'refusing'] as const)(
    '%s: 503, nothing was changed, and the same key works when it is back',
    async (mood) => {
      const { id } = await scheduled();
      queue.mood = mood;
      const key = newKey();
      const before = await stored(id);
      const refused = await Promise.all([
        sale(id, 'open', { key }),
        tune(id, { processing_rate: 60 }),
        patch(id, { home: 'Hajduk' }),
      ]);
      expect(refused.map(({ status, json }) => [status, json.code])).toEqual(
        Array.from({ length: 3 }, () => [503, 'DEPENDENCY_UNAVAILABLE']),
      );
      expect([refused[0]?.headers['retry-after'], await stored(id)]).toEqual(['2', before]);
      queue.mood = 'well';
      expect((await sale(id, 'open', { key })).json.sale.status).toBe('open');
    },
  );

  test('is told what is true when the change could not be committed', async () => {
    const { id } = await scheduled();
    await sale(id, 'open');
    await monolith.dataSource.query(`alter table matches add constraint no_pause check (sale_status <> 'paused') not valid`);
    try {
      expect((await sale(id, 'pause')).status).toBe(500);
    } finally {
      await monolith.dataSource.query(`alter table matches drop constraint no_pause`);
    }
    expect(queue.controls.get(id)?.map(({ status }) => status)).toEqual(['active', 'paused', 'active']);
  });
});

describe('the queue', () => {
  test('takes a new rate and a new bound; what is left out stays', async () => {
    const { id } = await scheduled();
    expect((await tune(id, { processing_rate: 60 })).json).toMatchObject({ processing_rate: 60, max_open_windows: 1000 });
    expect((await tune(id, { max_open_windows: 0 })).json).toMatchObject({ processing_rate: 60, max_open_windows: 0 });
    expect((await tune(id, {})).json).toMatchObject({ processing_rate: 60, max_open_windows: 0 });
    expect(queue.lastControl(id)).toMatchObject({ status: 'scheduled', processing_rate: 60, max_open_windows: 0 });
  });

  test.each([[{ processing_rate: 0 }], [{ processing_rate: '60' }], [{ max_open_windows: -1 }], [{ rate: 1 }]])(
    '%j is refused',
    async (body) => {
      expect((await tune((await scheduled()).id, body)).json.code).toBe('VALIDATION_FAILED');
    },
  );

  test('of a match without one cannot be tuned; a match that is not there neither', async () => {
    const { id } = await scheduled({ queue_required: false });
    expect((await tune(id, { processing_rate: 60 })).json.code).toBe('INVALID_STATE');
    expect((await tune('0190a000-0000-7000-8000-0000000000ff', {})).json.code).toBe('NOT_FOUND');
  });
});

describe('changes at the same time', () => {
  test('the queue hears last what the catalogue says last, whichever replica took it', async () => {
    const { id } = await scheduled();
    await sale(id, 'open');
    queue.mood = 'slow';
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) =>
        turn % 2
          ? sale(id, 'pause', { reason: `No ${turn}` }, other)
          : sale(id, 'close', {}, monolith).then(() => sale(id, 'open')),
      ),
    );
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const row = await stored(id);
    expect([queue.lastControl(id)?.status, queue.lastControl(id)?.reason]).toEqual([
      row?.sale_status === 'open' ? 'active' : row?.sale_status,
      row?.pause_reason,
    ]);
  });

  test('of forty matches by one replica leave it connections for everybody else', async () => {
    const matches = await Promise.all(Array.from({ length: 40 }, () => scheduled()));
    queue.mood = 'slow';
    const changes = matches.map(({ id }) => sale(id, 'open'));
    const reads = await Promise.all(Array.from({ length: 20 }, () => monolith.call('GET', '/api/v1/matches')));
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set((await Promise.all(changes)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe('the facts of a match', () => {
  test('are corrected one by one', async () => {
    const { id } = await scheduled();
    const kickoff_at = inDays(9);
    const { status, json } = await patch(id, { home: 'Hajduk', kickoff_at, max_tickets_per_fan: 2 });
    expect([status, json.home, json.away, json.kickoff_at, json.max_tickets_per_fan]).toEqual([
      200,
      'Hajduk',
      'Italija',
      kickoff_at,
      2,
    ]);
    expect(await read(id)).toMatchObject({ home: 'Hajduk', kickoff_at, max_tickets_per_fan: 2 });
  });

  test('an hour that is brought forward to now opens the sale, one that is taken away closes nothing', async () => {
    const { id } = await scheduled();
    expect((await patch(id, { opens_at: null })).json.sale).toMatchObject({ status: 'scheduled', opens_at: null });
    expect((await patch(id, { opens_at: inDays(-1) })).json.sale.status).toBe('open');
  });

  test.each([
    [{}],
    [{ id: 'x' }],
    [{ sale: { status: 'open' } }],
    [{ queue_required: false }],
    [{ home: '' }],
    [{ kickoff_at: 'tomorrow' }],
    [{ currency: 'eur' }],
  ])('%j is refused', async (body) => expect((await patch((await scheduled()).id, body)).json.code).toBe('VALIDATION_FAILED'));

  test('only operators may', async () => {
    const { id } = await scheduled();
    const fan = { as: '0190a000-0000-7000-8000-00000000000b', body: { home: 'Hajduk' } };
    expect((await monolith.call('PATCH', `/api/v1/ops/matches/${id}`, fan)).json.code).toBe('FORBIDDEN');
  });
});

describe('the report', () => {
  const report = async (id: string) => (await monolith.call('GET', `/api/v1/ops/matches/${id}/report`, ops)).json;

  test('counts every seat once and carries the queue’s numbers', async () => {
    const { id } = await scheduled({ sectors: [seated('East A'), seated('West B', 2, 3)] });
    expect((await report(id)).queue).toBeNull();
    await sale(id, 'open');
    expect(await report(id)).toEqual({
      capacity: 56,
      available: 56,
      held: 0,
      sold: 0,
      blocked: 0,
      refunded: 0,
      revenue_cents: 0,
      orders: {},
      queue: { waiting: 7, open_windows: 3, granted: 10, completed: 5, expired: 2 },
    });
    queue.mood = 'down';
    expect((await report(id)).queue).toBeNull();
  });
});
