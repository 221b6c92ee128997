import { z } from 'zod';
import type { FanState, QueueState } from '#domain/waiting-room/fan-state';
import type { Place } from '../application/ports.ts';

/** What the scripts answer, turned into our types. Numbers come as text, false as null. */
type Text = string | null;

/** In the order of describe_queue in parts/queue-state.lua. */
type QueueReply = [
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
  granted: string,
  completed: string,
  expired: string,
  total: number,
  openWindows: number,
];

/** In the order of describe_place in parts/places.lua. */
export type PlaceReply = [kind: string, position: number, detail: Text, session: Text, queue: QueueReply];

const windowText = z.object({ expires_at: z.string(), session_token: z.string() });
const sessionText = z.object({ queue_token: z.string(), score: z.string() });
const overText = z.union([
  z.object({ status: z.enum(['expired', 'completed', 'left']) }),
  z.object({ status: z.literal('closed'), reason: z.enum(['sold_out', 'closed']) }),
]);
const sectorsText = z.array(z.object({ sector_id: z.string(), name: z.string(), available: z.number() }));
const queueStatus = z.enum(['scheduled', 'active', 'paused', 'closed']);

export function toQueue(reply: QueueReply): QueueState {
  const [status, rate, maxOpen, useful, opensAt, reason, closedReason, sectors, revision, mean, granted, completed, expired] =
    reply;
  return {
    status: queueStatus.parse(status),
    total: reply[13],
    processingRate: Number(rate),
    maxOpenWindows: Number(maxOpen),
    usefulWindows: useful === null ? null : Number(useful),
    openWindows: reply[14],
    opensAt: opensAt === null ? null : instant(opensAt),
    reason,
    closedReason: closedReason === null ? null : closedReason === 'sold_out' ? 'sold_out' : 'closed',
    remainingSectors: sectors === null ? [] : sectorsText.parse(JSON.parse(sectors)).map(toSector),
    revision: Number(revision),
    meanWindowMs: mean === null ? null : Number(mean),
    granted: Number(granted),
    completed: Number(completed),
    expired: Number(expired),
  };
}

export function toPlace(reply: PlaceReply): Place {
  const [kind, position, detail, session, queue] = reply;
  const known = session === null ? null : sessionText.parse(JSON.parse(session));
  const state = toState(kind, position, detail);
  const isOn = state.kind === 'waiting' || state.kind === 'granted';
  return {
    state,
    queue: toQueue(queue),
    queueToken: isOn ? (known?.queue_token ?? null) : null,
    score: isOn && known && known.score !== '' ? known.score : null,
  };
}

export function instant(ms: string): string {
  return new Date(Number(ms)).toISOString();
}

function toState(kind: string, position: number, detail: Text): FanState {
  if (kind === 'waiting') return { kind, position };
  if (kind === 'granted') {
    const window = windowText.parse(JSON.parse(detail ?? ''));
    return { kind, expiresAt: window.expires_at, sessionToken: window.session_token };
  }
  if (kind === 'over') return { kind, ...overText.parse(JSON.parse(detail ?? '')) };
  return { kind: 'nowhere' };
}

function toSector(sector: z.infer<typeof sectorsText>[number]) {
  return { sectorId: sector.sector_id, name: sector.name, available: sector.available };
}
