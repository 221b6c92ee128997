import { readHold, readOrder } from './fan.ts';
import { successOf, type Request } from './history.ts';
import type { Scene } from './scene.ts';

const READERS = 16;
const READ_ATTEMPTS = 5;

/** Numbers and short texts that a scenario reports beside its faults. */
export type Figures = Readonly<Record<string, string | number>>;

/** The result of the checks at the end of a scenario. */
export interface Audit {
  /** Broken guarantees, each as one sentence. */
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
 * The checks at the end of every scenario: no acknowledged request is lost, nothing was done twice, no answer was a 500, and `verify`
 * finds no broken invariant. With `mayLose` (asynchronous replication), lost requests are only counted.
 */
export async function audit(scene: Scene, { mayLose = false } = {}): Promise<Audit> {
  const { history } = scene;
  const { lost, seatsTwice } = await findLostOrDoubled(scene);
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

/** Reads every acknowledged reservation and order from the service, as the fan who owns it. */
async function findLostOrDoubled(scene: Scene): Promise<{ lost: string[]; seatsTwice: string[] }> {
  const lost: string[] = [];
  const seatsTwice: string[] = [];
  const ownerOf = new Map<string, string>();
  const checkRequest = async (request: Request): Promise<void> => {
    const success = successOf(request)!;
    if (request.name === 'checkout') {
      const { orderId } = readOrder(success);
      const order = await readAs(scene, request.userId, `orders/${orderId}`);
      const isComplete = order?.status === 'completed' && order.tickets?.length === order.seats.length;
      if (!order || (scene.history.completed.has(orderId) && !isComplete)) lost.push(`order ${orderId}, now ${order?.status}`);
      return;
    }
    if (request.name === 'move') {
      const { id } = JSON.parse(success.text) as { id: string };
      if ((await scene.rows('select from quota_moves where id = $1', [id])).length === 0) lost.push(`move ${id}`);
      return;
    }
    if (request.name === 'prepare') return;
    const { id, seatIds } = readHold(success);
    const reservation = await readAs(scene, request.userId, `reservations/${id}`);
    if (reservation?.seats.map(({ seat_id }) => seat_id).join() !== seatIds.join()) lost.push(`reservation ${id}`);
    if (!reservation || !isAlive(reservation)) return;
    for (const seatId of seatIds) {
      if (ownerOf.has(seatId)) seatsTwice.push(`${seatId} by ${ownerOf.get(seatId)} and ${id}`);
      ownerOf.set(seatId, id);
    }
  };
  const unchecked = scene.history.acknowledged();
  const reader = async (): Promise<void> => {
    for (let next = unchecked.pop(); next; next = unchecked.pop()) await checkRequest(next);
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return { lost, seatsTwice };
}

function isAlive({ status, expires_at }: Stored): boolean {
  return status === 'completed' || (['held', 'ordered'].includes(status) && Date.parse(expires_at) > Date.now());
}

/** Reads an object as this fan. Undefined if it does not exist, or if no replica answers after five attempts. */
async function readAs(scene: Scene, userId: string, path: string): Promise<Stored | undefined> {
  for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt += 1) {
    try {
      const headers = { 'x-mock-user-id': userId };
      const answer = await fetch(`${scene.nextReplica()?.url}/api/v1/${path}`, { headers, signal: AbortSignal.timeout(10_000) });
      const body = await answer.json();
      if (answer.status < 500) return answer.status === 200 ? (body as Stored) : undefined;
    } catch {
      // The next attempt may go to another replica.
    }
  }
  return undefined;
}

/** Fans who have more rows in the table than they sent requests of this name: a request was executed twice. */
async function doneTwice(scene: Scene, name: string, table: 'reservations' | 'orders'): Promise<string[]> {
  const requestCounts = new Map<string, number>();
  for (const request of scene.history.requests)
    if (request.name === name) requestCounts.set(request.userId, (requestCounts.get(request.userId) ?? 0) + 1);
  const rows = await scene.rows<{ user_id: string; n: number }>(
    `select user_id, count(*)::int as n from ${table} group by user_id`,
  );
  return rows
    .filter(({ user_id, n }) => n > (requestCounts.get(user_id) ?? n))
    .map(({ user_id, n }) => `${n} ${table} of ${user_id}, who sent ${requestCounts.get(user_id)} requests`);
}
