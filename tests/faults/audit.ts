import { heldIn, orderedIn } from './fan.ts';
import { successOf, type Request } from './history.ts';
import type { Scene } from './scene.ts';

const READERS = 16;
const READ_ATTEMPTS = 5;

export type Figures = Readonly<Record<string, string | number>>;

export interface Audit {
  /** What must not be. */
  readonly faults: readonly string[];
  readonly figures: Figures;
}

interface Stored {
  readonly id: string;
  readonly status: string;
  readonly expires_at: string;
  readonly seats: readonly { readonly seat_id: string }[];
  readonly tickets?: readonly unknown[];
}

/**
 * What every scenario ends with: nothing acknowledged is lost, nothing was done twice, no 500, and verify is clean. Where `mayLose`,
 * what is lost is counted only: what its guard is for.
 */
export async function audit(scene: Scene, { mayLose = false } = {}): Promise<Audit> {
  const { history } = scene;
  const { lost, seatsTwice } = await lookUp(scene);
  const doubled = [...(await doneTwice(scene, 'hold', 'reservations')), ...(await doneTwice(scene, 'checkout', 'orders'))];
  const faults = [
    ...(mayLose ? [] : lost.map((what) => `acknowledged and lost: ${what}`)),
    ...seatsTwice.map((what) => `given twice: ${what}`),
    ...doubled.map((what) => `done twice: ${what}`),
    ...history.faults(),
    ...(await scene.verify()),
  ];
  const refusals = Object.entries(history.refusals()).map(([words, count]) => `${count} × ${words}`);
  return {
    faults,
    figures: {
      acknowledged: history.acknowledged().length,
      completed: history.completed.size,
      lost: lost.length,
      doubled: doubled.length + seatsTwice.length,
      refusals: refusals.join(', ') || 'none',
    },
  };
}

/** Asks the service, as its fan, for everything that fan was promised. */
async function lookUp(scene: Scene): Promise<{ lost: string[]; seatsTwice: string[] }> {
  const lost: string[] = [];
  const seatsTwice: string[] = [];
  const ownerOf = new Map<string, string>();
  const look = async (request: Request): Promise<void> => {
    const promised = successOf(request)!;
    if (request.name === 'checkout') {
      const { orderId } = orderedIn(promised);
      const order = await readAs(scene, request.userId, `orders/${orderId}`);
      const isComplete = order?.status === 'completed' && order.tickets?.length === order.seats.length;
      if (!order || (scene.history.completed.has(orderId) && !isComplete)) lost.push(`order ${orderId}, now ${order?.status}`);
      return;
    }
    const { id, seatIds } = heldIn(promised);
    const reservation = await readAs(scene, request.userId, `reservations/${id}`);
    if (reservation?.seats.map(({ seat_id }) => seat_id).join() !== seatIds.join()) lost.push(`reservation ${id}`);
    if (!reservation || !isAlive(reservation)) return;
    for (const seatId of seatIds) {
      if (ownerOf.has(seatId)) seatsTwice.push(`${seatId} by ${ownerOf.get(seatId)} and ${id}`);
      ownerOf.set(seatId, id);
    }
  };
  const waiting = scene.history.acknowledged();
  const reader = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await look(next);
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return { lost, seatsTwice };
}

function isAlive({ status, expires_at }: Stored): boolean {
  return status === 'completed' || (['held', 'ordered'].includes(status) && Date.parse(expires_at) > Date.now());
}

/** Undefined when it is not there, or nobody can be asked. */
async function readAs(scene: Scene, userId: string, what: string): Promise<Stored | undefined> {
  for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt += 1) {
    try {
      const headers = { 'x-mock-user-id': userId };
      const answer = await fetch(`${scene.anyReplica()?.url}/api/v1/${what}`, { headers, signal: AbortSignal.timeout(10_000) });
      const body = await answer.json();
      if (answer.status < 500) return answer.status === 200 ? (body as Stored) : undefined;
    } catch {
      // Once more, perhaps of somebody else.
    }
  }
  return undefined;
}

/** Fans with more in the table than they have asked for. */
async function doneTwice(scene: Scene, name: string, table: 'reservations' | 'orders'): Promise<string[]> {
  const asked = new Map<string, number>();
  for (const request of scene.history.requests)
    if (request.name === name) asked.set(request.userId, (asked.get(request.userId) ?? 0) + 1);
  const rows = await scene.rows<{ user_id: string; n: number }>(
    `select user_id, count(*)::int as n from ${table} group by user_id`,
  );
  return rows
    .filter(({ user_id, n }) => n > (asked.get(user_id) ?? n))
    .map(({ user_id, n }) => `${n} ${table} of ${user_id}, who asked for ${asked.get(user_id)}`);
}
