import { developmentSecrets } from '#platform/config/settings';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { newKey } from '../testing/test-app.ts';
import { openMonolith, ops, putOnSale, seated, type WholeMonolith } from '../testing/whole-monolith.ts';
import { FakeQueueService } from '../waiting-room/testing/fake-queue-service.ts';

let database: TestDatabase;
let redis: TestRedis;
let queue: FakeQueueService;
let monolith: WholeMonolith;
let other: WholeMonolith;

beforeAll(async () => {
  queue = new FakeQueueService(developmentSecrets.INTERNAL_AUTH_SECRET);
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
  await Promise.all([queue.close(), database.close(), redis.close()]);
});
beforeEach(() => {
  queue.behaviour = 'normal';
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const scheduled = (facts = {}) => putOnSale(monolith, { queue_required: true, opens_at: inDays(1), ...facts });
const sale = (matchId: string, action: string, more: { reason?: string; key?: string } = {}, on = monolith) =>
  on.call('POST', `/api/v1/ops/matches/${matchId}/sale`, {
    ...ops,
    body: { action, ...(more.reason ? { reason: more.reason } : {}) },
    key: more.key ?? newKey(),
  });
const changeQueue = (matchId: string, body: unknown) =>
  monolith.call('PUT', `/api/v1/ops/matches/${matchId}/queue`, { ...ops, body });
const patch = (matchId: string, body: unknown) => monolith.call('PATCH', `/api/v1/ops/matches/${matchId}`, { ...ops, body });
const read = async (matchId: string) => (await monolith.call('GET', `/api/v1/matches/${matchId}`)).json;
const stored = async (matchId: string) =>
  (
    await monolith.dataSource.query<Record<string, unknown>[]>(
      `select sale_status, pause_reason, processing_rate, max_open_windows, home from matches where id = $1`,
      [matchId],
    )
  )[0];

describe('POST /ops/matches/{id}/sale', () => {
  const allowed: Record<string, Record<string, string>> = {
    scheduled: { open: 'open', close: 'closed' },
    open: { open: 'open', pause: 'paused', resume: 'open', close: 'closed' },
    paused: { pause: 'paused', resume: 'open', close: 'closed' },
    sold_out: { close: 'closed' },
    closed: { open: 'open', close: 'closed' },
  };
  const inQueue: Record<string, string> = { scheduled: 'scheduled', open: 'active', paused: 'paused', closed: 'closed' };

  test.each(
    Object.keys(allowed).flatMap((from) => ['open', 'pause', 'resume', 'close'].map((action) => [from, action] as const)),
  )(
    'on a sale that is %s with the action %s stores the new status and sends it to the queue, or is 409 INVALID_STATE',
    async (from, action) => {
      const { id } = await scheduled();
      await monolith.dataSource.query(`update matches set sale_status = $2 where id = $1`, [id, from]);
      const { status, json } = await sale(id, action);
      const to = allowed[from]?.[action];
      if (to) {
        expect([status, json.sale.status, (await read(id)).sale.status]).toEqual([200, to, to]);
        expect(queue.lastControl(id)?.status).toBe(inQueue[to]);
      } else {
        expect([status, json.code, json.sale_status]).toEqual([409, 'INVALID_STATE', from]);
        expect([(await stored(id))?.sale_status, queue.lastControl(id)]).toEqual([from, undefined]);
      }
    },
  );

  test('pause stores a reason, which is kept by a second pause and cleared by resume', async () => {
    const { id } = await scheduled();
    await sale(id, 'open');
    expect((await sale(id, 'pause', { reason: 'The gates are jammed' })).json.pause_reason).toBe('The gates are jammed');
    expect(queue.lastControl(id)).toMatchObject({ status: 'paused', reason: 'The gates are jammed' });
    expect((await sale(id, 'pause')).json.pause_reason).toBe('The gates are jammed');
    expect((await sale(id, 'resume')).json.pause_reason).toBeNull();
    expect(queue.lastControl(id)).toMatchObject({ status: 'active', reason: null });
  });

  test('pauses a sale that opened at its opens_at, even if opens_at was then moved to the future, which leaves the sale open', async () => {
    const { id } = await scheduled({ opens_at: inDays(-1) });
    expect((await read(id)).sale.status).toBe('open');
    expect((await patch(id, { opens_at: inDays(1) })).json.sale.status).toBe('open');
    expect([(await read(id)).sale.status, queue.lastControl(id)?.status]).toEqual(['open', 'active']);
    expect((await sale(id, 'pause')).json.sale.status).toBe('paused');
  });

  test('repeated with its idempotency key gets the same answer, and the queue service is called once', async () => {
    const { id } = await scheduled();
    const key = newKey();
    const first = await sale(id, 'open', { key });
    const again = await sale(id, 'open', { key });
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true']);
    expect(queue.controls.get(id)).toHaveLength(1);
  });

  test('for a match without a queue does not call the waiting room', async () => {
    queue.behaviour = 'down';
    const { id } = await scheduled({ queue_required: false });
    expect((await sale(id, 'open')).json.sale.status).toBe('open');
    expect(queue.lastControl(id)).toBeUndefined();
  });
});

describe('POST /ops/matches/{id}/cancel', () => {
  const cancel = (matchId: string, key = newKey()) =>
    monolith.call('POST', `/api/v1/ops/matches/${matchId}/cancel`, { ...ops, body: { reason: 'Snow' }, key });

  test.each(['scheduled', 'open', 'paused', 'sold_out', 'closed'])('closes a sale that was %s, and its queue', async (from) => {
    const { id } = await scheduled();
    await monolith.dataSource.query(`update matches set sale_status = $2 where id = $1`, [id, from]);
    const { status, json } = await cancel(id);
    expect([status, json.sale.status, json.cancel_reason, json.pause_reason]).toEqual([200, 'closed', 'Snow', null]);
    expect([(await read(id)).sale.status, queue.lastControl(id)?.status]).toEqual(['closed', 'closed']);
    const controls = queue.controls.get(id)?.length;
    for (const action of ['open', 'pause', 'resume']) expect((await sale(id, action)).json.code).toBe('INVALID_STATE');
    expect(queue.controls.get(id)?.length).toBe(controls);
  });

  test('everybody sees when the match was cancelled and why; before that both are null', async () => {
    const { id } = await scheduled();
    expect(await read(id)).toMatchObject({ cancelled_at: null, cancel_reason: null });
    const { json } = await cancel(id);
    expect(await read(id)).toMatchObject({ cancelled_at: json.cancelled_at, cancel_reason: 'Snow' });
  });

  test('changes nothing while the waiting room is down; the same idempotency key succeeds later', async () => {
    const { id } = await scheduled();
    const key = newKey();
    queue.behaviour = 'down';
    expect((await cancel(id, key)).json.code).toBe('DEPENDENCY_UNAVAILABLE');
    expect((await read(id)).cancelled_at).toBeNull();
    queue.behaviour = 'normal';
    expect((await cancel(id, key)).json.sale.status).toBe('closed');
  });

  test('leaves the sale closed if another request opens it at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await scheduled();
      const [cancelled, opened] = await Promise.all([cancel(id), sale(id, 'open', {}, other)]);
      expect(cancelled.status).toBe(200);
      expect([200, 409]).toContain(opened.status);
      expect([(await read(id)).sale.status, queue.lastControl(id)?.status]).toEqual(['closed', 'closed']);
    }
  });
});

describe('a change that the waiting room or the database does not accept', () => {
  test.each(['down', 'refusing'] as const)(
    'because the waiting room is %s: is answered 503 and changes nothing, and the same idempotency key succeeds later',
    async (behaviour) => {
      const { id } = await scheduled();
      queue.behaviour = behaviour;
      const key = newKey();
      const before = await stored(id);
      const refused = await Promise.all([
        sale(id, 'open', { key }),
        changeQueue(id, { processing_rate: 60 }),
        patch(id, { home: 'Hajduk' }),
      ]);
      expect(refused.map(({ status, json }) => [status, json.code])).toEqual(
        Array.from({ length: 3 }, () => [503, 'DEPENDENCY_UNAVAILABLE']),
      );
      expect([refused[0]?.headers['retry-after'], await stored(id)]).toEqual(['2', before]);
      queue.behaviour = 'normal';
      expect((await sale(id, 'open', { key })).json.sale.status).toBe('open');
    },
  );

  test('because its commit fails: the waiting room, which accepted the change, is sent the old state again', async () => {
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

describe('PUT /ops/matches/{id}/queue', () => {
  test('changes the rate and the maximum of open windows; omitted fields keep their value', async () => {
    const { id } = await scheduled();
    expect((await changeQueue(id, { processing_rate: 60 })).json).toMatchObject({ processing_rate: 60, max_open_windows: 1000 });
    expect((await changeQueue(id, { max_open_windows: 0 })).json).toMatchObject({ processing_rate: 60, max_open_windows: 0 });
    expect((await changeQueue(id, {})).json).toMatchObject({ processing_rate: 60, max_open_windows: 0 });
    expect(queue.lastControl(id)).toMatchObject({ status: 'scheduled', processing_rate: 60, max_open_windows: 0 });
  });

  test.each([[{ processing_rate: 0 }], [{ processing_rate: '60' }], [{ max_open_windows: -1 }], [{ rate: 1 }]])(
    'refuses the body %j',
    async (body) => {
      expect((await changeQueue((await scheduled()).id, body)).json.code).toBe('VALIDATION_FAILED');
    },
  );

  test('is INVALID_STATE for a match without a queue and NOT_FOUND for an unknown match', async () => {
    const { id } = await scheduled({ queue_required: false });
    expect((await changeQueue(id, { processing_rate: 60 })).json.code).toBe('INVALID_STATE');
    expect((await changeQueue('0190a000-0000-7000-8000-0000000000ff', {})).json.code).toBe('NOT_FOUND');
  });
});

describe('concurrent changes', () => {
  test('of one match by two replicas leave the queue service with the same state as the catalogue', async () => {
    const { id } = await scheduled();
    await sale(id, 'open');
    queue.behaviour = 'slow';
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index % 2
          ? sale(id, 'pause', { reason: `No ${index}` }, other)
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

  test('of forty matches by one replica leave it database connections for other requests', async () => {
    const matches = await Promise.all(Array.from({ length: 40 }, () => scheduled()));
    queue.behaviour = 'slow';
    const changes = matches.map(({ id }) => sale(id, 'open'));
    const reads = await Promise.all(Array.from({ length: 20 }, () => monolith.call('GET', '/api/v1/matches')));
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set((await Promise.all(changes)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe('PATCH /ops/matches/{id}', () => {
  test('changes only the given fields', async () => {
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

  test('opens the sale if opens_at is set to the past, and leaves it scheduled if opens_at is removed', async () => {
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
  ])('refuses the body %j', async (body) =>
    expect((await patch((await scheduled()).id, body)).json.code).toBe('VALIDATION_FAILED'),
  );

  test('is forbidden for fans', async () => {
    const { id } = await scheduled();
    const fan = { as: '0190a000-0000-7000-8000-00000000000b', body: { home: 'Hajduk' } };
    expect((await monolith.call('PATCH', `/api/v1/ops/matches/${id}`, fan)).json.code).toBe('FORBIDDEN');
  });
});

describe('GET /ops/matches/{id}/report', () => {
  const report = async (id: string) => (await monolith.call('GET', `/api/v1/ops/matches/${id}/report`, ops)).json;

  test('counts every seat once and contains the queue’s numbers; the queue’s numbers are null while the queue service is down', async () => {
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
    queue.behaviour = 'down';
    expect((await report(id)).queue).toBeNull();
  });
});
