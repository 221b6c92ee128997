import type { Problem } from '../api/problem.ts';
import type { ConnectionEnd, ConnectionState } from '../../../../libs/queue-client/src/queue-connection.ts';
import type { QueueMessage } from '../../../../libs/queue-client/src/queue-messages.ts';

/** The fan's stage in the line of one match. */
export type RoomStage =
  | { name: 'loading' }
  | { name: 'outside' }
  | { name: 'waiting'; line: LineState }
  | { name: 'turn'; sessionToken: string; expiresAt: string }
  | { name: 'ended'; reason: LineEndReason };

/**
 * Why the fan is no longer in the line. `dropped`: the fan was absent too long. `ended_earlier`: the turn or the queue entry ended
 * before the page was opened. `replaced`: the fan opened the line on too many devices, and a newer one took over.
 * `refused`: the server rejected the connection or each new queue token.
 */
export type LineEndReason =
  'sold_out' | 'closed' | 'turn_expired' | 'turn_completed' | 'dropped' | 'ended_earlier' | 'left' | 'replaced' | 'refused';

/** The position of the fan in the line and the expected wait. */
export type LineState = Extract<QueueMessage, { type: 'position_update' }>;

/** What the page knows about the fan in the line of one match. */
export interface RoomState {
  stage: RoomStage;
  link: ConnectionState;
  /** True while the queue service cannot read the line. The fan keeps the queue entry. */
  delayed: boolean;
  busy: boolean;
  problem: Problem | undefined;
}

/** What can change the state of the waiting room. */
export type RoomEvent =
  | { type: 'request_started' }
  | { type: 'request_failed'; problem: Problem }
  | { type: 'not_in_line' }
  | { type: 'message_received'; message: QueueMessage }
  | { type: 'link_changed'; link: ConnectionState }
  | { type: 'connection_ended'; reason: Exclude<ConnectionEnd, 'rejoin' | 'ended'> };

/** The state before the first answer of the queue service. */
export const initialRoomState: RoomState = {
  stage: { name: 'loading' },
  link: 'over',
  delayed: false,
  busy: false,
  problem: undefined,
};

/** The state after an event. A pure function: connections and storage are in WaitingRoom. */
export function nextState(state: RoomState, event: RoomEvent): RoomState {
  switch (event.type) {
    case 'request_started':
      return { ...state, busy: true, problem: undefined };
    case 'request_failed': {
      const stage: RoomStage = state.stage.name === 'loading' ? { name: 'outside' } : state.stage;
      return { ...state, stage, busy: false, problem: event.problem };
    }
    case 'not_in_line':
      return { ...state, stage: { name: 'outside' }, busy: false };
    case 'link_changed':
      return { ...state, link: event.link };
    case 'connection_ended':
      return { ...state, busy: false, link: 'over', stage: { name: 'ended', reason: event.reason } };
    case 'message_received': {
      const delayed = event.message.type === 'delayed';
      return { ...state, busy: false, problem: undefined, delayed, stage: stageAfter(state.stage, event.message) };
    }
  }
}

function stageAfter(stage: RoomStage, message: QueueMessage): RoomStage {
  switch (message.type) {
    case 'position_update':
      return { name: 'waiting', line: message };
    case 'turn_granted':
      return { name: 'turn', sessionToken: message.session_token, expiresAt: message.purchase_window_expires_at };
    case 'queue_closed':
      return { name: 'ended', reason: message.reason };
    case 'turn_completed':
      return { name: 'ended', reason: 'turn_completed' };
    case 'turn_expired':
      return { name: 'ended', reason: expiryReason(stage) };
    default:
      return stage;
  }
}

/**
 * Why the queue service sent `turn_expired`: the window ran out, or the queue entry was dropped for absence. The stage before the
 * message tells which of the two.
 */
function expiryReason(stage: RoomStage): LineEndReason {
  if (stage.name === 'turn') return 'turn_expired';
  return stage.name === 'waiting' ? 'dropped' : 'ended_earlier';
}
