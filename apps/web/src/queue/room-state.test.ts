import type { QueueMessage } from '../../../../libs/queue-client/src/queue-messages.ts';
import { Problem } from '../api/problem.ts';
import { beforeAsking, nextState, type RoomEvent, type RoomStage, type RoomState } from './room-state.ts';

const after = (...events: RoomEvent[]): RoomState => events.reduce(nextState, beforeAsking);
const heard = (message: QueueMessage): RoomEvent => ({ type: 'heard', message });

const waiting = heard({ type: 'position_update', position: 7, total: 40, estimated_wait_minutes: 3 });
const granted = heard({
  type: 'turn_granted',
  session_token: 'st_1',
  purchase_window_expires_at: '2026-11-20T19:20:00Z',
  checkout_url: '',
});
const ended = heard({ type: 'turn_expired' });
const stageAfter = (...events: RoomEvent[]): RoomStage => after(...events).stage;

test('a position update shows the place in the line', () => {
  expect(stageAfter(waiting)).toMatchObject({ name: 'waiting', line: { position: 7, total: 40, waitMinutes: 3, paused: false } });
});

test('a granted turn carries its token and its end', () => {
  expect(stageAfter(waiting, granted)).toEqual({ name: 'turn', sessionToken: 'st_1', expiresAt: '2026-11-20T19:20:00Z' });
});

test('turn_expired after a turn: the window ran out', () => {
  expect(stageAfter(waiting, granted, ended)).toEqual({ name: 'over', why: 'turn_expired' });
});

test('turn_expired while waiting: the place was dropped', () => {
  expect(stageAfter(waiting, ended)).toEqual({ name: 'over', why: 'dropped' });
});

test('turn_expired as the first thing heard: it ended before this page was opened', () => {
  expect(stageAfter(ended)).toEqual({ name: 'over', why: 'ended_earlier' });
  expect(stageAfter({ type: 'not_in_line' }, ended)).toEqual({ name: 'over', why: 'ended_earlier' });
});

test.each(['sold_out', 'closed'] as const)('queue_closed says why: %s', (reason) => {
  expect(stageAfter(waiting, heard({ type: 'queue_closed', reason }))).toEqual({ name: 'over', why: reason });
});

test('turn_completed ends the turn as bought', () => {
  expect(stageAfter(granted, heard({ type: 'turn_completed' }))).toEqual({ name: 'over', why: 'turn_completed' });
});

test('delayed keeps the place and is over with the next message', () => {
  const late = after(waiting, heard({ type: 'delayed' } as QueueMessage));
  expect([late.stage.name, late.delayed]).toEqual(['waiting', true]);
  expect(nextState(late, waiting).delayed).toBe(false);
});

test('a failed call keeps the stage; before the first answer it shows the way in', () => {
  const failed: RoomEvent = { type: 'failed', problem: new Problem('UNREACHABLE', 0) };
  expect(stageAfter(failed)).toEqual({ name: 'outside' });
  expect(after(waiting, { type: 'asked' }, failed)).toMatchObject({ stage: { name: 'waiting' }, busy: false });
});

test('asking again clears the last problem', () => {
  const problem = new Problem('RATE_LIMITED', 429);
  expect(after({ type: 'failed', problem }).problem).toBe(problem);
  expect(after({ type: 'failed', problem }, { type: 'asked' })).toMatchObject({ problem: undefined, busy: true });
});

test('a connection that is over for good ends the stage', () => {
  expect(after(waiting, { type: 'linked', link: 'live' }, { type: 'over', why: 'replaced' })).toMatchObject({
    stage: { name: 'over', why: 'replaced' },
    link: 'over',
  });
});
