import { queueKeys } from '#contracts/queue-keys';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { randomUUID } from 'node:crypto';
import { JobsApi } from '../../apps/monolith/src/jobs/jobs.api.ts';
import { BoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { FollowWaitingRoom } from '../../apps/monolith/src/purchase/turns/application/follow-waiting-room.ts';
import { OutboxRelays } from '../../apps/monolith/src/relay/outbox-relays.ts';
import { openMonolith, ops, putOnSale, type WholeMonolith } from '../../apps/monolith/src/testing/whole-monolith.ts';
import { eventually, runWorker, type RunningWorker } from '../../apps/notification-worker/src/testing/running-worker.ts';

// A monolith with PUSH_PROVIDER=none, another one with pushes (the negative control), and a notification worker with
// PUSH_PROVIDER=none, on the same PostgreSQL and Redis.

let database: TestDatabase;
let redis: TestRedis;
const monoliths: WholeMonolith[] = [];
const workers: RunningWorker[] = [];

beforeAll(async () => {
  [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
});
afterAll(async () => {
  await Promise.all([...monoliths, ...workers].map((service) => service.close()));
  await Promise.all([database.close(), redis.close()]);
});

async function monolithWith(settings: Record<string, string>): Promise<WholeMonolith> {
  const monolith = await openMonolith({ DATABASE_URL: database.url, REDIS_URL: redis.url, ...settings });
  monoliths.push(monolith);
  return monolith;
}

async function relay(monolith: WholeMonolith, names: readonly string[]): Promise<void> {
  for (const outboxRelay of monolith.get(OutboxRelays).relays)
    if (names.includes(outboxRelay.destination.name)) while ((await outboxRelay.runOnce()) > 0);
}

/**
 * A fan with a phone gets a turn, another one is at the front of the line, a third one further back. The first one buys a ticket for
 * another match, which is then moved. Each of these is a reason for a push.
 */
async function giveReasonsForPushes(monolith: WholeMonolith): Promise<void> {
  const office = new BoxOffice(monolith);
  const match = await putOnSale(monolith, { queue_required: true });
  const fans = [randomUUID(), randomUUID(), randomUUID()] as const;
  for (const fan of fans)
    await monolith.call('PUT', '/api/v1/me/devices/phone', { as: fan, body: { fcm_token: `token-${fan}` } });
  const [buyer, atFront, inLine] = fans;
  const expires_at = new Date(Date.now() + 1_200_000).toISOString();
  const items = [{ user_id: inLine, position: 100, estimated_wait_minutes: 3 }];
  for (const event of [
    { event: 'queue.turn_granted', user_id: buyer, match_id: match.id, session_token: `st_${buyer}`, expires_at },
    { event: 'queue.front_reached', user_id: atFront, match_id: match.id },
    { event: 'queue.position_update', match_id: match.id, items },
  ])
    await monolith.resources.redis.xadd(queueKeys.events(match.id), '*', 'event', JSON.stringify(event));
  await monolith.get(FollowWaitingRoom).execute(match.id);
  const other = await putOnSale(monolith);
  const ordered = await office.ordered(await office.held(other, { as: buyer }));
  await office.settle(office.report(ordered));
  const moved = await monolith.call('PATCH', `/api/v1/ops/matches/${other.id}`, { ...ops, body: { venue: 'Poljud' } });
  expect(moved.status).toBe(200);
  // A job that is done may have created others.
  const limits = { limit: 100, timeLimitSeconds: 10, untilEmpty: true, stop: new AbortController().signal };
  do await relay(monolith, ['jobs']);
  while ((await monolith.get(JobsApi).consume(limits)) > 0);
}

/** The mails and pushes in the outbox, as `<destination> <template>`. */
async function messages(monolith: WholeMonolith): Promise<string[]> {
  const rows = await monolith.dataSource.query<{ message: string }[]>(
    `select destination || ' ' || (body ->> 'template') as message from outbox
     where destination in ('email', 'push', 'push-priority') order by 1`,
  );
  return rows.map(({ message }) => message);
}

const MAILS = ['email match_changed', 'email order_confirmation', 'email ticket_delivery'];
const PUSHES = [
  'push match_changed',
  'push queue_position',
  'push ticket_delivery',
  'push-priority queue_front',
  'push-priority queue_your_turn',
];

test('with PUSH_PROVIDER=none the monolith makes every mail and no push; a worker with it completes queued pushes unsent', async () => {
  const withoutPushes = await monolithWith({ PUSH_PROVIDER: 'none' });
  await giveReasonsForPushes(withoutPushes);
  expect(await messages(withoutPushes)).toEqual(MAILS);
  expect(await withoutPushes.dataSource.query('select count(*)::int as broadcasts from broadcasts')).toEqual([{ broadcasts: 0 }]);

  // Negative control: the same with pushes. They are queued, as before a change of the setting.
  await withoutPushes.dataSource.query('delete from outbox');
  const withPushes = await monolithWith({});
  await giveReasonsForPushes(withPushes);
  expect(await messages(withPushes)).toEqual([...MAILS, ...PUSHES]);
  await relay(withPushes, ['email', 'push', 'push-priority']);

  const worker = await runWorker({ PUSH_PROVIDER: 'none', NOTIFICATION_RETRY_SECONDS: '0,0' }, { database, redis });
  workers.push(worker);
  const queues = [worker.queue('push'), worker.queue('push-priority')];
  await eventually(async () => {
    const counts = await Promise.all([...queues, worker.queue('email')].map((queue) => queue.getCompletedCount()));
    return counts.join() === '3,2,3';
  });
  const completed = await Promise.all(queues.map((queue) => queue.getCompleted()));
  expect(completed.flat().map(({ returnvalue }) => returnvalue as unknown)).toEqual(PUSHES.map(() => 'not sent: no provider'));
  expect((await worker.mailbox({})).map(({ channel, template }) => `${channel} ${template}`).sort()).toEqual(MAILS);

  // Nothing is left that could be restored, and the worker is healthy.
  await eventually(async () => {
    const [copies] = await withPushes.dataSource.query<{ count: number }[]>('select count(*)::int as count from queued_jobs');
    return copies?.count === 0;
  });
  await eventually(async () => (await worker.get('/health/ready')).status === 200);
  const { body } = await worker.get('/metrics');
  for (const line of [
    'notification_push_queue_size 0',
    'notification_push_sent_total{template="ticket_delivery"} 0',
    'notification_push_failed_total{template="ticket_delivery"} 0',
    'notification_push_oldest_unsent_seconds{template="queue_your_turn"} 0',
    'notification_email_sent_total{template="ticket_delivery"} 1',
  ])
    expect(body.split('\n')).toContain(line);
}, 60_000);
