import { z } from 'zod';
import { queueStatus, soldOutRequest } from '#contracts/waiting-room-control';
import type { FanState, QueueState } from '../domain/fan-state.ts';
import type { LineMove } from '../domain/line-view.ts';
import type { QueueEntry } from '../application/ports.ts';

/** A value in the reply of a script: text, because Redis stores hash values as text, or null for Lua's false. */
type Text = string | null;

/** The state of a queue as a script returns it, in the order of describe_queue in parts/queue-state.lua. */
export type QueueReply = [
  status: string,
  processingRate: string,
  maxOpenWindows: string,
  usefulWindows: Text,
  opensAt: Text,
  reason: Text,
  closedReason: Text,
  remainingSectors: Text,
  revision: string,
  meanWindowMs: Text,
  windowVariance: Text,
  measuredWindows: Text,
  granted: string,
  completed: string,
  expired: string,
  epoch: string,
  moves: string,
  joins: string,
  total: number,
  openWindows: number,
  isOpening: number,
];

/**
 * A fan's state as a script returns it, in the order of describe_entry in parts/entries.lua. `detail`: score (waiting), window
 * JSON (granted) or final state JSON (over).
 */
export type QueueEntryReply = [kind: string, position: number, detail: Text, session: Text];

/** One move of the line (fans who left or came back) as read-moves.lua returns it: an entry of a Redis stream. */
export type MoveReply = [id: string, [field: string, scores: string]];

const windowText = z.object({ expires_at: z.string(), session_token: z.string(), place_score: z.number().optional() });
const sessionText = z.object({ queue_token: z.string(), score: z.string().optional() });
const overText = z.union([
  z.object({ status: z.enum(['expired', 'completed', 'left']) }),
  z.object({ status: z.literal('closed'), reason: z.enum(['sold_out', 'closed']) }),
]);
const { remaining_sectors: remainingSectors } = soldOutRequest.shape;

/** Converts the state of a queue from the reply of a script. */
export function toQueue(reply: QueueReply): QueueState {
  const [status, rate, maxOpen, useful, opensAt, reason, closedReason, sectors, revision] = reply;
  const [
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    ,
    mean,
    variance,
    measured,
    granted,
    completed,
    expired,
    epoch,
    moves,
    joins,
    total,
    openWindows,
    isOpening,
  ] = reply;
  return {
    status: queueStatus.parse(status),
    total,
    processingRate: Number(rate),
    maxOpenWindows: Number(maxOpen),
    usefulWindows: useful === null ? null : Number(useful),
    openWindows,
    opensAt: opensAt === null ? null : toIsoTime(opensAt),
    reason,
    closedReason: closedReason === null ? null : closedReason === 'sold_out' ? 'sold_out' : 'closed',
    remainingSectors: sectors === null ? [] : remainingSectors.parse(JSON.parse(sectors)),
    revision: Number(revision),
    measured: mean === null ? null : { meanMs: Number(mean), varianceS2: Number(variance), windows: Number(measured) },
    granted: Number(granted),
    completed: Number(completed),
    expired: Number(expired),
    epoch,
    moves: Number(moves),
    joins: Number(joins),
    isOpening: isOpening === 1,
  };
}

/**
 * Converts a fan's state. The fan's queue token is usually in the session in the reply. A script that gets the token from its
 * caller replies without the session; the caller then passes the token here as `token`.
 */
export function toQueueEntry(reply: QueueEntryReply, queue: QueueState, token: string | null = null): QueueEntry {
  const [kind, position, detail, session] = reply;
  const known = session === null ? null : sessionText.parse(JSON.parse(session));
  const state = toState(kind, position, detail);
  const isActive = state.kind === 'waiting' || state.kind === 'granted';
  const score = state.kind === 'waiting' ? detail : (known?.score ?? scoreOfTurn(kind, detail));
  return { state, queue, queueToken: isActive ? (known?.queue_token ?? token) : null, score: isActive && score ? score : null };
}

/** The score (join time) from the window. A restored turn has no session with the score. */
function scoreOfTurn(kind: string, detail: Text): string {
  const score = kind === 'granted' ? windowText.parse(JSON.parse(detail ?? '')).place_score : undefined;
  return score === undefined ? '' : String(score);
}

/** Converts one move of the line (fans who left or came back) from the reply of read-moves.lua. */
export function toMove([id, [field, scores]]: MoveReply): LineMove {
  return { number: Number.parseInt(id, 10), isBack: field === 'back', scores: scores.split(',').map(Number) };
}

/** Converts a time in milliseconds since 1970, as Redis stores it, into ISO 8601. */
export function toIsoTime(ms: string): string {
  return new Date(Number(ms)).toISOString();
}

function toState(kind: string, position: number, detail: Text): FanState {
  if (kind === 'waiting') return { kind, position };
  if (kind === 'granted') {
    const window = windowText.parse(JSON.parse(detail ?? ''));
    return { kind, expiresAt: window.expires_at, sessionToken: window.session_token };
  }
  if (kind === 'over') return { kind, ...overText.parse(JSON.parse(detail ?? '')) };
  return { kind: 'not_in_line' };
}
