import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { QUEUE_EVENTS_CHANNEL, queueEvent, type QueueEvent } from '#contracts/integration-events';
import { QUEUE_PODS_CHANNEL, queueKeys } from '#contracts/queue-keys';
import { AdvanceLine } from '../application/advance-line.ts';
import { newFanIds, lineFixture, pause, type LineFixture } from '../testing/line-fixture.ts';

let fixture: LineFixture;
let subscriber: Redis;
const received: { channel: string; text: string }[] = [];

beforeAll(async () => {
  fixture = await lineFixture();
  subscriber = fixture.redis.duplicate();
  subscriber.on('message', (channel: string, text: string) => received.push({ channel, text }));
  await subscriber.subscribe(QUEUE_EVENTS_CHANNEL, QUEUE_PODS_CHANNEL);
});
afterAll(async () => {
  await subscriber.quit();
  await fixture.close();
});

async function eventsInStream(matchId: string): Promise<string[]> {
  const entries = await fixture.redis.xrange(queueKeys.events(matchId), '-', '+');
  return entries.map(([, fields]) => {
    expect(fields[0]).toBe('event');
    return fields[1]!;
  });
}

const published = (channel: string, matchId: string) =>
  received.filter((message) => message.channel === channel && message.text.includes(matchId)).map(({ text }) => text);

test('the event stream of a match in Redis has exactly the published events, in the same order and valid for the schema `queueEvent`', async () => {
  const pod = fixture.pod({ purchaseWindowMs: 150 });
  const matchId = await fixture.match({ processing_rate: 60_000, max_open_windows: 3 });
  const [buyer, expired, leaver, closedOut] = newFanIds(4) as [string, string, string, string];
  for (const user of [buyer, expired, leaver]) await pod.join(matchId, user);
  await pod.admit(matchId, 10);
  await pod.completeWindow(matchId, buyer);
  await pod.leave(matchId, leaver);
  await pause(200);
  await pod.join(matchId, closedOut);
  await new AdvanceLine(pod).runOnce(matchId);
  await pod.change(matchId, { status: 'closed' });
  await new AdvanceLine(pod).runOnce(matchId);
  await pause(50);

  const stream = await eventsInStream(matchId);
  expect(published(QUEUE_EVENTS_CHANNEL, matchId)).toEqual(stream);
  const events: QueueEvent[] = stream.map((text) => queueEvent.parse(JSON.parse(text)));
  const grants = events.filter((event) => event.event === 'queue.turn_granted');
  expect(grants.map((event) => event.user_id)).toEqual([buyer, expired, leaver, closedOut]);
  const ends = events.filter((event) => event.event === 'queue.expired');
  expect(ends.map((event) => [event.user_id, event.reason])).toEqual([
    [leaver, 'left'],
    [expired, 'window_timeout'],
    [closedOut, 'closed'],
  ]);
  // Each queue.expired event has the session token of the window that ended.
  for (const end of ends) {
    expect(end.session_token).toBe(grants.find((grant) => grant.user_id === end.user_id)!.session_token);
  }
  const queue = (await pod.readQueue(matchId))!;
  expect(queue).toMatchObject({ granted: 4, completed: 1, expired: 3, openWindows: 0 });
});

test('when queue.turn_granted is published, Redis has already stored the window', async () => {
  const matchId = await fixture.match();
  await fixture.lines.join(matchId, randomUUID());
  const reader = fixture.redis.duplicate();
  const found = new Promise<string | null>((resolve) => {
    subscriber.on('message', (channel: string, text: string) => {
      const event = JSON.parse(text) as { match_id: string; user_id: string };
      if (channel === QUEUE_EVENTS_CHANNEL && event.match_id === matchId)
        resolve(reader.hget(queueKeys.windows(matchId), event.user_id));
    });
  });
  await fixture.lines.admit(matchId, 1);
  expect(JSON.parse((await found)!)).toMatchObject({ session_token: expect.stringMatching(/^st_/) });
  await reader.quit();
});

test('the channel queue_pods gets a message for a restored state, a completed purchase, a fan who left and a changed status', async () => {
  const matchId = await fixture.match();
  const [buyer, leaver] = newFanIds(2) as [string, string];
  await fixture.lines.join(matchId, buyer);
  await fixture.lines.join(matchId, leaver);
  await fixture.lines.admit(matchId, 1);
  await fixture.lines.completeWindow(matchId, buyer);
  await fixture.lines.leave(matchId, leaver);
  await fixture.lines.change(matchId, { status: 'paused', reason: 'floodlights' });
  await fixture.lines.change(matchId, { processing_rate: 60 });
  await pause(50);
  expect(published(QUEUE_PODS_CHANNEL, matchId).map((text) => JSON.parse(text) as unknown)).toEqual([
    { match_id: matchId, kind: 'queue' },
    { match_id: matchId, kind: 'queue' },
    { match_id: matchId, kind: 'fan', user_id: buyer },
    { match_id: matchId, kind: 'fan', user_id: leaver },
    { match_id: matchId, kind: 'queue' },
  ]);
});
