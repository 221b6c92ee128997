import type { QueueMessage } from '../../../../libs/queue-client/src/queue-messages.ts';
import { Problem } from '../api/problem.ts';
import { initialRoomState, nextState, type RoomEvent, type RoomStage, type RoomState } from './room-state.ts';

const after = (...events: RoomEvent[]): RoomState => events.reduce(nextState, initialRoomState);
const received = (message: QueueMessage): RoomEvent => ({ type: 'message_received', message });

const waiting = received({ type: 'position_update', position: 7, total: 40, estimated_wait_minutes: 3 });
const granted = received({
  type: 'turn_granted',
  session_token: 'st_1',
  purchase_window_expires_at: '2026-11-20T19:20:00Z',
  checkout_url: '',
});
const ended = received({ type: 'turn_expired' });
const stageAfter = (...events: RoomEvent[]): RoomStage => after(...events).stage;

test('the message position_update starts the stage waiting with position, total and estimated wait', () => {
  expect(stageAfter(waiting)).toMatchObject({ name: 'waiting', line: { position: 7, total: 40, estimated_wait_minutes: 3 } });
});

test('the message turn_granted starts the stage turn with the session token and the expiry', () => {
  expect(stageAfter(waiting, granted)).toEqual({ name: 'turn', sessionToken: 'st_1', expiresAt: '2026-11-20T19:20:00Z' });
});

test('the message turn_expired during a turn starts the stage `ended` with the reason turn_expired: the window ran out', () => {
  expect(stageAfter(waiting, granted, ended)).toEqual({ name: 'ended', reason: 'turn_expired' });
});

test('the message turn_expired while waiting starts the stage `ended` with the reason dropped: the fan was absent too long', () => {
  expect(stageAfter(waiting, ended)).toEqual({ name: 'ended', reason: 'dropped' });
});

test('turn_expired as the first message starts the stage `ended` with the reason ended_earlier (ended before the page was opened)', () => {
  expect(stageAfter(ended)).toEqual({ name: 'ended', reason: 'ended_earlier' });
  expect(stageAfter({ type: 'not_in_line' }, ended)).toEqual({ name: 'ended', reason: 'ended_earlier' });
});

test.each(['sold_out', 'closed'] as const)(
  'the message queue_closed with reason %s starts the stage `ended` with this reason',
  (reason) => {
    expect(stageAfter(waiting, received({ type: 'queue_closed', reason }))).toEqual({ name: 'ended', reason: reason });
  },
);

test('the message turn_completed starts the stage `ended` with the reason turn_completed', () => {
  expect(stageAfter(granted, received({ type: 'turn_completed' }))).toEqual({ name: 'ended', reason: 'turn_completed' });
});

test('a message of the type delayed keeps the waiting stage and sets `delayed`; the next message clears it', () => {
  const late = after(waiting, received({ type: 'delayed' } as QueueMessage));
  expect([late.stage.name, late.delayed]).toEqual(['waiting', true]);
  expect(nextState(late, waiting).delayed).toBe(false);
});

test('a failed request keeps the stage, except that the stage loading becomes outside (the fan is not in the line)', () => {
  const failed: RoomEvent = { type: 'request_failed', problem: new Problem('UNREACHABLE', 0) };
  expect(stageAfter(failed)).toEqual({ name: 'outside' });
  expect(after(waiting, { type: 'request_started' }, failed)).toMatchObject({ stage: { name: 'waiting' }, busy: false });
});

test('a new request clears the problem of the request before it', () => {
  const problem = new Problem('RATE_LIMITED', 429);
  expect(after({ type: 'request_failed', problem }).problem).toBe(problem);
  expect(after({ type: 'request_failed', problem }, { type: 'request_started' })).toMatchObject({
    problem: undefined,
    busy: true,
  });
});

test('when the connection ends with a reason, the stage `ended` starts with the same reason', () => {
  expect(after(waiting, { type: 'link_changed', link: 'live' }, { type: 'connection_ended', reason: 'replaced' })).toMatchObject({
    stage: { name: 'ended', reason: 'replaced' },
    link: 'over',
  });
});
