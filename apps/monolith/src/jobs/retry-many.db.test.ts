import { JOBS_PREFIX } from '#contracts/queue-jobs';
import { notificationJob } from '#messaging/jobs/job-policy';
import { newId } from '#platform/ids';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { newKey, type TestAnswer } from '../testing/test-app.ts';
import { ops } from '../testing/whole-monolith.ts';
import { JobsAtWork, refundMail, TEST_CLASS } from './testing/jobs-at-work.ts';

const JOBS = '/api/v1/ops/jobs';
const [MAILS, GENERAL, PARKED] = [5000, 4000, 1000];
/** The retry must leave the process free for other requests. On a busy machine a turn of the event loop alone takes 200 ms. */
const MAX_PAUSE_MS = 1000;

let jobs: JobsAtWork;
beforeAll(async () => void (jobs = await JobsAtWork.open({})));
afterAll(() => jobs.close());

const retryAll = (body: object, key = newKey()): Promise<TestAnswer> =>
  jobs.monolith.call('POST', `${JOBS}/retry`, { ...ops, key, body });

/** Fills all queues with failed jobs, in the form in which BullMQ stores them. */
async function fillWithFailedJobs(): Promise<void> {
  const mails = Array.from({ length: MAILS }, (_, n) => refundMail(`ORD-2026-${n}`));
  await jobs.queues.get('email')?.addBulk(mails.map((mail) => notificationJob(mail.job_id, mail)));
  const commands = jobs.connection.pipeline().del(`${JOBS_PREFIX}:email:wait`);
  for (const { job_id } of mails) {
    commands.zadd(`${JOBS_PREFIX}:email:failed`, Date.now(), job_id);
    commands.hset(`${JOBS_PREFIX}:email:${job_id}`, { failedReason: '550 mailbox full', finishedOn: Date.now(), atm: 3 });
  }
  await commands.exec();
  const attempts = JSON.stringify([{ at: new Date().toISOString(), error: 'psp refused', stack: '' }]);
  await jobs.sql(
    `insert into jobs (id, class, message, attempts, transport, failed_at)
     select id, $2, jsonb_build_object('class', $2::text), $3, 'redis', now() from unnest($1::uuid[]) id`,
    [Array.from({ length: GENERAL }, newId), TEST_CLASS, attempts],
  );
  await jobs.sql(
    `insert into outbox (id, destination, event, body, attempts, last_error, parked_at)
     select id, 'email', 'order.refunded', '{}', 10, 'refused', now() from unnest($1::uuid[]) id`,
    [Array.from({ length: PARKED }, newId)],
  );
}

test('10,000 failed jobs are retried at once, each once, by one of two operators; meanwhile the process answers other requests', async () => {
  await fillWithFailedJobs();
  const all = MAILS + GENERAL + PARKED;
  expect((await retryAll({ dry_run: true })).json).toEqual({ count: all });
  expect((await retryAll({ q: 'mailbox', dry_run: true })).json).toEqual({ count: MAILS });
  const found: string[] = [];
  let [cursor, requests] = ['', 0];
  do {
    const { json } = await jobs.monolith.call('GET', `${JOBS}?queue=email&q=ORD-2026-0${cursor && `&cursor=${cursor}`}`, ops);
    found.push(...json.items.map(({ payload }: { payload: { payload: { order_id: string } } }) => payload.payload.order_id));
    [cursor, requests] = [json.next_cursor, requests + 1];
  } while (cursor);
  // A request reads at most 2,000 jobs, so it may find nothing, and its cursor continues the search.
  expect([found, requests]).toEqual([['ORD-2026-0'], 3]);
  const pauses = monitorEventLoopDelay({ resolution: 5 });
  pauses.enable();
  const key = newKey();
  const answers = await Promise.all([retryAll({}, key), retryAll({})]);
  pauses.disable();
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers.reduce((sum, { json }) => sum + json.count, 0)).toBe(all);
  expect(pauses.max / 1e6).toBeLessThan(MAX_PAUSE_MS);
  const replay = await retryAll({}, key);
  expect([replay.text, replay.headers['idempotency-replayed']]).toEqual([answers[0]?.text, 'true']);
  expect((await retryAll({ dry_run: true })).json).toEqual({ count: 0 });
  expect(await jobs.sql('select count(*)::int as n, count(distinct job_id)::int as jobs from job_interventions')).toEqual([
    { n: all, jobs: all },
  ]);
  expect(await jobs.relay('jobs')).toBe(MAILS + GENERAL);
  const { items } = (await jobs.monolith.call('GET', `${JOBS}/counts`, ops)).json;
  const waiting = Object.fromEntries(items.map((item: { queue: string; waiting: number }) => [item.queue, item.waiting]));
  expect(waiting).toMatchObject({ email: MAILS, jobs: GENERAL, outbox: PARKED });
  expect(items.every(({ failed }: { failed: number }) => failed === 0)).toBe(true);
}, 120_000);
