import { TransactionManager } from '#application/transaction-manager';
import { newId } from '#platform/ids';
import { notificationJobOptions } from '#messaging/jobs/job-policy';
import type { TestAnswer } from '../testing/test-app.ts';
import { newKey } from '../testing/test-app.ts';
import { ops } from '../testing/whole-monolith.ts';
import { AllQueues } from './all-queues.ts';
import { ManageJobs } from './manage-jobs.ts';
import { JobsAtWork, refundMail, TEST_CLASS, turnPush, until } from './testing/jobs-at-work.ts';

// The list of the jobs of all queues, and what operators do with it, on both transports of the general jobs.

const JOBS = '/api/v1/ops/jobs';
const pends = (): Promise<string> => new Promise(() => undefined);

describe.each(['redis', 'postgres'])('with JOBS_TRANSPORT=%s', (transport) => {
  let jobs: JobsAtWork;
  beforeAll(async () => void (jobs = await JobsAtWork.open({ JOBS_TRANSPORT: transport })));
  beforeEach(() => jobs.reset());
  afterEach(() => jobs.stopWork());
  afterAll(() => jobs.close());

  const get = (query = ''): Promise<TestAnswer> => jobs.monolith.call('GET', JOBS + query, ops);
  const list = async (query = ''): Promise<TestAnswer['json'][]> => (await get(`?limit=100${query}`)).json.items;
  const ids = async (query = ''): Promise<string[]> => (await list(query)).map(({ id }: { id: string }) => id);
  const retryAll = (body: object, more: { key?: string; as?: string } = {}): Promise<TestAnswer> =>
    jobs.monolith.call('POST', `${JOBS}/retry`, { ...ops, ...more, body });
  const countOf = async (body: object): Promise<number> => (await retryAll(body)).json.count;
  const interventions = () =>
    jobs.sql<{ job_id: string; action: string; by: string }>('select job_id, action, by from job_interventions');

  /** Lets real workers fail a mail, a push and a general job, and parks a message. Returns their ids. */
  async function failOneOfEach(): Promise<Record<'email' | 'push' | 'jobs' | 'outbox', string>> {
    const email = await jobs.queue('email', refundMail('ORD-2026-000001'));
    const push = await jobs.queue('push', turnPush(newId(), 'queue_position'));
    jobs.work('email', () => Promise.reject(new Error('550 mailbox full')));
    jobs.work('push', () => Promise.reject(new Error('fcm says UNAVAILABLE')));
    const general = await jobs.put();
    jobs.workGeneral(() => Promise.reject(new Error('psp refused the refund')));
    await until(async () => (await ids('&state=failed')).length === 3);
    await jobs.stopWork();
    const outbox = await jobs.park('order.refunded', refundMail('ORD-2026-000002'), 'not a job of queue email');
    return { email, push, jobs: general, outbox };
  }

  test('the list has the jobs of all queues in every state, newest first, and each filter restricts it', async () => {
    const delayed = { email: await jobs.queue('email', refundMail('1')), jobs: await jobs.put() };
    jobs.work('email', () => Promise.reject(new Error('x')), [600]);
    jobs.workGeneral(() => Promise.reject(new Error('x')), [600]);
    await until(async () => (await ids('&state=delayed')).length === 2);
    await jobs.stopWork();
    const completed = { push: await jobs.queue('push', turnPush(newId())), jobs: await jobs.put() };
    jobs.work('push', () => Promise.resolve('sent'));
    jobs.workGeneral(() => Promise.resolve());
    await until(async () => (await ids('&state=completed')).length === 2);
    await jobs.stopWork();
    const failed = await failOneOfEach();
    const active = { 'push-priority': await jobs.queue('push-priority', turnPush(newId())), jobs: await jobs.put() };
    jobs.work('push-priority', pends);
    jobs.workGeneral(pends);
    await until(async () => (await ids('&state=active')).length === 2);
    const waiting = { email: await jobs.queue('email', refundMail('2')), jobs: await jobs.put() };

    const made = { delayed, completed, failed, active, waiting };
    const all = Object.entries(made).flatMap(([state, byQueue]) =>
      Object.entries(byQueue).map(([queue, id]) => ({ id, queue, state })),
    );
    all.sort((a, b) => (a.id < b.id ? 1 : -1));
    expect((await list()).map(({ id, queue, state }) => ({ id, queue, state }))).toEqual(all);
    const idsWhere = (wanted: Partial<(typeof all)[number]>): string[] =>
      all.filter((job) => Object.entries(wanted).every(([name, value]) => job[name as 'id'] === value)).map(({ id }) => id);
    for (const state of Object.keys(made)) expect(await ids(`&state=${state}`)).toEqual(idsWhere({ state }));
    for (const queue of ['email', 'push', 'push-priority', 'jobs', 'outbox'])
      expect(await ids(`&queue=${queue}`)).toEqual(idsWhere({ queue }));
    expect(await ids(`&template=${TEST_CLASS}`)).toEqual(idsWhere({ queue: 'jobs' }));
    expect(await ids('&template=refund')).toEqual(idsWhere({ queue: 'email' }));
    expect(await ids('&template=refund&state=failed')).toEqual([failed.email]);
    expect(await ids('&template=order.refunded')).toEqual([failed.outbox]);

    const counts = (await jobs.monolith.call('GET', `${JOBS}/counts`, ops)).json.items;
    expect(counts).toMatchObject([
      { queue: 'email', waiting: 1, delayed: 1, active: 0, completed: 0, failed: 1 },
      { queue: 'push', waiting: 0, delayed: 0, active: 0, completed: 1, failed: 1 },
      { queue: 'push-priority', waiting: 0, delayed: 0, active: 1, completed: 0, failed: 0 },
      { queue: 'jobs', waiting: 1, delayed: 1, active: 1, completed: 1, failed: 1 },
      { queue: 'outbox', waiting: 0, delayed: 0, active: 0, completed: 0, failed: 1 },
    ]);

    const refusals = [active.jobs, active['push-priority'], completed.jobs, completed.push].map(async (id) => [
      (await jobs.monolith.call('DELETE', `${JOBS}/${id}`, ops)).json.code,
      (await jobs.monolith.call('POST', `${JOBS}/${id}/retry`, ops)).json.code,
    ]);
    expect(await Promise.all(refusals)).toEqual(Array(4).fill(['INVALID_STATE', 'INVALID_STATE']));
    await jobs.stopWork();
  });

  test('q finds jobs by id, address, fan, template and error text, without regard to upper and lower case', async () => {
    const [fan, match] = [newId(), newId()];
    const failed = await failOneOfEach();
    const mail = await jobs.queue('email', refundMail('ORD-2026-000007', 'Marija.Kos@example.hr'));
    const push = await jobs.queue('push', turnPush(fan));
    const general = await jobs.put({ matchId: match, note: 'from "Split"' });
    const found = (text: string): Promise<string[]> => ids(`&q=${encodeURIComponent(text)}`);
    expect([await found(mail), await found(general.toUpperCase()), await found(failed.outbox)]).toEqual([
      [mail],
      [general],
      [failed.outbox],
    ]);
    expect([await found('marija.kos@EXAMPLE.hr'), await found('kos@ex')]).toEqual([[mail], [mail]]);
    expect([await found(fan), await found(match)]).toEqual([[push], [general]]);
    expect([await found('queue_posi'), await found(TEST_CLASS)]).toEqual([[failed.push], [general, failed.jobs]]);
    expect([await found('MAILBOX full'), await found('unavailable')]).toEqual([[failed.email], [failed.push]]);
    expect([await found('refused the'), await found('not a job of queue')]).toEqual([[failed.jobs], [failed.outbox]]);
    expect([await found('nothing like that'), await found('"')]).toEqual([[], []]);
  });

  test('neither the answer nor the search tells a secret of a payload or an error; a search for an address works', async () => {
    const secrets = {
      session_token: 'st_AAAAAAAAAAAAAAAAAAAA',
      queue_token: `qt_${'0123456789abcdef'.repeat(4)}BBBBBBBBBBBBBBBBBBBBBBBB`,
      claim_url: 'https://tribina.example/invitation#inv_CCCCCCCCCCCCCCCCCCCCCC',
      client_secret: 'pi_1_secret_DDDDDDDDDD',
      idempotency_key: '0190a000000040008000000000000eee',
      password: 'EEE@EEEE.hunterEEE',
      code: 'TRB1.FFFFFFFF.FFFF',
      fcm_token: 'GGGGGGGGGGGG:APA91GGGGGGGGGGGGGG',
      pin: '84728472',
    };
    const error = new Error(
      `refused ${Object.entries(secrets)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')}`,
    );
    const bare = new Error(`refused ${Object.values(secrets).slice(0, 5).join(' ')} ${secrets.code} ${secrets.fcm_token}`);
    const push = await jobs.queue('push', {
      ...turnPush(newId(), 'queue_your_turn', secrets),
      fcm_tokens: [secrets.fcm_token],
    } as never);
    const mail = await jobs.queue('email', {
      ...refundMail('ORD-2026-000003'),
      payload: { ...refundMail('x').payload, ...secrets },
    } as never);
    const general = await jobs.put({ event: secrets.session_token, reference_id: secrets.claim_url, ...secrets });
    jobs.work('push', () => Promise.reject(error));
    jobs.work('email', () => Promise.reject(bare));
    jobs.workGeneral(() => Promise.reject(bare));
    await until(async () => (await ids('&state=failed')).length === 3);
    await jobs.stopWork();
    const message = await jobs.park('order.refunded', { ...refundMail('x'), ...secrets }, error.message);
    const { text } = await get('?limit=100');
    for (const [name, secret] of Object.entries(secrets)) {
      // The end of the secret: its beginning may say what it is.
      const end = secret.slice(-8);
      expect([name, text.includes(end), await ids(`&q=${encodeURIComponent(end)}`)]).toEqual([name, false, []]);
      expect([name, await ids(`&q=${encodeURIComponent(secret)}`)]).toEqual([name, []]);
    }
    expect((await ids()).toSorted()).toEqual([push, mail, general, message].toSorted());
    expect(await ids('&q=ana.horvat@example.hr')).toEqual([message, mail].toSorted().reverse());
  });

  test('pages have every job once, also jobs whose ids are no UUIDs, and while jobs change their states', async () => {
    const made: string[] = [];
    for (const id of ['1', 'by hand', 'ž', newId()]) {
      await jobs.queues.get('email')?.add('refund', refundMail(id), notificationJobOptions(`x${id}`));
      made.push(`email x${id}`);
    }
    for (const name of ['email', 'push'] as const) {
      await jobs.queues.get(name)?.add('refund', refundMail('twice'), notificationJobOptions('twice'));
      made.push(`${name} twice`);
    }
    for (let n = 0; n < 4; n += 1) {
      made.push(`email ${await jobs.queue('email', refundMail(String(n)))}`, `jobs ${await jobs.put()}`);
      made.push(`outbox ${await jobs.park('order.refunded', {}, 'x')}`);
    }
    jobs.work('email', () => Promise.reject(new Error('x')));
    jobs.workGeneral(() => Promise.resolve());
    for (const limit of [3, 1]) {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { json } = await get(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        expect(json.items.length).toBe(limit);
        seen.push(...json.items.map(({ queue, id }: { queue: string; id: string }) => `${queue} ${id}`));
        cursor = json.next_cursor;
      }
      await jobs.stopWork();
      expect(seen.toSorted()).toEqual(made.toSorted());
    }
  });

  test('a limit above 100 and a cursor that is not ours are 400', async () => {
    const foreign = [
      'x',
      'ZW1haWw',
      Buffer.from('nothing 1').toString('base64url'),
      Buffer.from('email \0').toString('base64url'),
    ];
    for (const cursor of foreign) {
      expect((await get(`?cursor=${cursor}`)).json).toMatchObject({ status: 400, errors: [{ path: 'cursor' }] });
    }
    const statuses = ['?limit=101', '?limit=0', '?state=dead', '?queue=all', '?template=a b'].map(
      async (query) => (await get(query)).status,
    );
    expect(await Promise.all(statuses)).toEqual([400, 400, 400, 400, 400]);
  });

  test('a dry run counts what the real run retries, for each filter, and changes nothing', async () => {
    const failed = await failOneOfEach();
    await jobs.queue('email', refundMail('ORD-2026-000001'));
    const filters = [
      [{}, 4],
      [{ queue: 'email' }, 1],
      [{ queue: 'outbox' }, 1],
      [{ template: TEST_CLASS }, 1],
      [{ q: 'UNAVAILABLE' }, 1],
      [{ queue: 'push', q: 'mailbox' }, 0],
    ] as const;
    for (const [filter, count] of filters) expect([filter, await countOf({ ...filter, dry_run: true })]).toEqual([filter, count]);
    expect([await interventions(), (await ids('&state=failed')).length]).toEqual([[], 4]);
    expect(await countOf({ queue: 'email' })).toBe(1);
    expect((await interventions()).map(({ job_id }) => job_id)).toEqual([failed.email]);
    expect(await countOf({ dry_run: true })).toBe(3);
    expect(await countOf({})).toBe(3);
    expect(await interventions()).toEqual(
      expect.arrayContaining(Object.values(failed).map((job_id) => ({ job_id, action: 'retry', by: ops.as }))),
    );
    await jobs.relay('jobs');
    expect(await ids('&state=failed')).toEqual([]);
    jobs.workGeneral(() => Promise.resolve());
    await until(async () => (await ids('&state=completed')).includes(failed.jobs));
    await jobs.stopWork();
    expect((await ids('&queue=email&state=waiting')).length).toBe(2);
  });

  test('until its retry is delivered a job is shown as waiting, and is not retried a second time', async () => {
    const failed = await failOneOfEach();
    expect(await countOf({ queue: 'email' })).toBe(1);
    expect([await ids('&queue=email&state=failed'), await ids('&queue=email&state=waiting')]).toEqual([[], [failed.email]]);
    expect([await countOf({ queue: 'email', dry_run: true }), await countOf({ queue: 'email' })]).toEqual([0, 0]);
    expect((await jobs.monolith.call('POST', `${JOBS}/${failed.email}/retry`, ops)).json.code).toBe('INVALID_STATE');
    expect(await interventions()).toHaveLength(1);
  });

  test('when several operators retry all jobs at once, each job is retried by one of them; a repeated request has one effect', async () => {
    await failOneOfEach();
    const key = newKey();
    const answers = await Promise.all([retryAll({}, { key }), retryAll({}), retryAll({}), retryAll({ queue: 'push' })]);
    const replay = await retryAll({}, { key });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.reduce((sum, { json }) => sum + json.count, 0)).toBe(4);
    expect([replay.text, replay.headers['idempotency-replayed']]).toEqual([answers[0]?.text, 'true']);
    expect(await interventions()).toHaveLength(4);
  });

  test('only operators may see and change jobs; an unknown filter or job is refused', async () => {
    const fan = { as: newId() };
    const id = newId();
    const calls = [
      ['GET', JOBS],
      ['GET', `${JOBS}/counts`],
      ['POST', `${JOBS}/retry`],
      ['POST', `${JOBS}/${id}/retry`],
      ['DELETE', `${JOBS}/${id}`],
    ] as const;
    for (const [method, path] of calls) expect((await jobs.monolith.call(method, path, fan)).json.code).toBe('FORBIDDEN');
    expect((await retryAll({ state: 'failed' })).json.code).toBe('VALIDATION_FAILED');
    expect((await retryAll({ q: '' })).status).toBe(400);
    expect((await jobs.monolith.call('DELETE', `${JOBS}/${id}`, ops)).json.code).toBe('NOT_FOUND');
    expect((await jobs.monolith.call('POST', `${JOBS}/${id}/retry`, ops)).json.code).toBe('NOT_FOUND');
  });

  test('a drop is completed by the relay if the process dies after its commit and before Redis', async () => {
    const id = await jobs.queue('email', refundMail('ORD-2026-000301'));
    const { transactions, queues } = {
      transactions: jobs.monolith.get(TransactionManager),
      queues: jobs.monolith.get(AllQueues),
    };
    const job = await queues.list.find(id);
    // The function that removes the job from Redis is never called.
    await transactions.run((tx) => queues.drop(tx, job!, 'ana'));
    expect(await queues.list.find(id)).toBeDefined();
    await jobs.relay('jobs');
    expect(await queues.list.find(id)).toBeUndefined();
  });

  test('a waiting mail that a worker begins while it is being dropped is refused with INVALID_STATE, not with an error', async () => {
    const id = await jobs.queue('email', refundMail('ORD-2026-000005'));
    const queues = jobs.monolith.get(AllQueues);
    const drop = queues.drop.bind(queues);
    queues.drop = async (...parameters) => {
      const remove = await drop(...parameters);
      jobs.work('email', pends);
      await until(async () => (await ids('&state=active')).includes(id));
      return remove;
    };
    try {
      await expect(jobs.monolith.get(ManageJobs).drop({ id, by: 'ana' })).rejects.toMatchObject({ code: 'INVALID_STATE' });
    } finally {
      queues.drop = drop;
      await jobs.stopWork();
    }
  });
});
