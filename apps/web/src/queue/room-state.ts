import type { Problem } from '../api/problem.ts';
import type { ConnectionEnd, Link } from '../../../../libs/queue-client/src/queue-connection.ts';
import type { QueueMessage } from '../../../../libs/queue-client/src/queue-messages.ts';

/** Where the fan stands with regard to the line of one match. */
export type RoomStage =
  | { name: 'loading' }
  | { name: 'outside' }
  | { name: 'waiting'; line: LineState }
  | { name: 'turn'; sessionToken: string; expiresAt: string }
  | { name: 'over'; why: OverReason };

export type OverReason =
  'sold_out' | 'closed' | 'turn_expired' | 'turn_completed' | 'dropped' | 'ended_earlier' | 'left' | 'replaced' | 'refused';

export interface LineState {
  position: number;
  total: number;
  waitMinutes: number | null;
  waitRange: [number, number] | null;
  paused: boolean;
  reason: string | null;
  remaining: { sector_id: string; name: string; available: number }[];
}

export interface RoomState {
  stage: RoomStage;
  link: Link;
  /** The waiting room itself cannot see the line at the moment; the place is safe. */
  delayed: boolean;
  busy: boolean;
  problem: Problem | undefined;
}

export type RoomEvent =
  | { type: 'asked' }
  | { type: 'failed'; problem: Problem }
  | { type: 'not_in_line' }
  | { type: 'heard'; message: QueueMessage }
  | { type: 'linked'; link: Link }
  | { type: 'over'; why: Exclude<ConnectionEnd, 'rejoin' | 'ended'> };

export const beforeAsking: RoomState = {
  stage: { name: 'loading' },
  link: 'over',
  delayed: false,
  busy: false,
  problem: undefined,
};

export function nextState(state: RoomState, event: RoomEvent): RoomState {
  switch (event.type) {
    case 'asked':
      return { ...state, busy: true, problem: undefined };
    case 'failed': {
      const stage: RoomStage = state.stage.name === 'loading' ? { name: 'outside' } : state.stage;
      return { ...state, stage, busy: false, problem: event.problem };
    }
    case 'not_in_line':
      return { ...state, stage: { name: 'outside' }, busy: false };
    case 'linked':
      return { ...state, link: event.link };
    case 'over':
      return { ...state, busy: false, link: 'over', stage: { name: 'over', why: event.why } };
    case 'heard': {
      const delayed = event.message.type === 'delayed';
      return { ...state, busy: false, problem: undefined, delayed, stage: stageAfter(state.stage, event.message) };
    }
  }
}

function stageAfter(stage: RoomStage, message: QueueMessage): RoomStage {
  switch (message.type) {
    case 'position_update':
      return { name: 'waiting', line: lineOf(message) };
    case 'turn_granted':
      return { name: 'turn', sessionToken: message.session_token, expiresAt: message.purchase_window_expires_at };
    case 'queue_closed':
      return { name: 'over', why: message.reason };
    case 'turn_completed':
      return { name: 'over', why: 'turn_completed' };
    case 'turn_expired':
      return { name: 'over', why: whyExpired(stage) };
    default:
      return stage;
  }
}

/** One word ends a window that ran out and a place dropped for absence; only who saw what came before can tell which. */
function whyExpired(stage: RoomStage): OverReason {
  if (stage.name === 'turn') return 'turn_expired';
  return stage.name === 'waiting' ? 'dropped' : 'ended_earlier';
}

function lineOf(message: QueueMessage & { type: 'position_update' }): LineState {
  return {
    position: message.position,
    total: message.total,
    waitMinutes: message.estimated_wait_minutes ?? null,
    waitRange: message.estimated_wait_range ?? null,
    paused: message.paused ?? false,
    reason: message.reason ?? null,
    remaining: message.remaining_sectors ?? [],
  };
}
