import { openBrowser } from '../testing/browser-storage.ts';
import { connect, problem, type Received } from '../testing/fake-network.ts';
import type { Caller } from '../api/caller.ts';
import { Tribina } from '../api/tribina.ts';
import { Memory } from '../purchase-memory.ts';
import { WaitingRoom } from './waiting-room.ts';

/** A waiting room that can lose its memory. A receipt proves a place; who shows none goes to the end. */
class FakeQueue {
  private line: string[] = [];
  private issued = new Map<string, number>();
  private turn: string | undefined;
  isAway = false;
  knowsReceipts = true;

  loseMemory(): void {
    this.line = [];
  }
  /** Other fans join at the end. */
  fill(count: number): void {
    for (let n = 0; n < count; n += 1) this.line.push(`other-${this.line.length}`);
  }
  grant(sessionToken: string): void {
    this.turn = sessionToken;
  }

  readonly answer = ({ method, headers, body }: Received): Response => {
    if (this.isAway) return problem(503, 'DEPENDENCY_UNAVAILABLE');
    const fan = headers.get('X-Mock-User-Id') ?? '';
    if (method === 'DELETE') {
      this.line = this.line.filter((other) => other !== fan);
      return new Response(null, { status: 204 });
    }
    if (method === 'POST') {
      const { receipt } = body as { receipt?: string };
      if (receipt && !this.knowsReceipts) return problem(400, 'VALIDATION_FAILED');
      if (!this.line.includes(fan)) this.line.splice(this.issued.get(receipt ?? '') ?? this.line.length, 0, fan);
    }
    const index = this.line.indexOf(fan);
    if (index < 0) return problem(404, 'NOT_FOUND');
    const receipt = `receipt-${fan}-${index}`;
    this.issued.set(receipt, index);
    const granted = {
      status: 'granted',
      position: null,
      session_token: this.turn,
      purchase_window_expires_at: new Date(Date.now() + 60_000).toISOString(),
    };
    return Response.json({
      ...(this.turn ? granted : { status: 'waiting', position: index + 1 }),
      total: this.line.length,
      estimated_wait_minutes: null,
      receipt,
    });
  };
}

const fan: Caller = { mode: 'mock', fanId: 'ana', signedIn: true, headers: () => ({ 'X-Mock-User-Id': 'ana' }) };
let queue: FakeQueue;

beforeEach(() => {
  openBrowser();
  queue = new FakeQueue();
  connect(queue.answer);
});

/** The page as it is after a load: its room knows what the browser kept. */
const load = () =>
  new WaitingRoom('m1', new Tribina({ queue_url: 'http://queue.example/', auth_mode: 'mock' }, fan), new Memory('ana'));
const stageOf = (room: WaitingRoom) => {
  const { stage } = room.snapshot();
  return stage.name === 'waiting' ? stage.line.position : stage.name;
};

test('a fan joins at the end of the line', async () => {
  queue.fill(2);
  const room = load();
  await room.join();
  expect(stageOf(room)).toBe(3);
});

test('after the waiting room lost its memory the receipt brings back the exact place', async () => {
  queue.fill(2);
  await load().join();
  queue.loseMemory();
  queue.fill(50);
  const room = load();
  await room.look();
  expect(stageOf(room)).toBe('outside');
  await room.join();
  expect(stageOf(room)).toBe(3);
});

test('a receipt that is refused is forgotten, and the fan joins like everybody else', async () => {
  await load().join();
  queue.loseMemory();
  queue.fill(5);
  queue.knowsReceipts = false;
  const room = load();
  await room.join();
  expect(stageOf(room)).toBe(6);
});

test('who leaves gives the place up: the receipt is forgotten', async () => {
  const room = load();
  await room.join();
  await room.leave();
  expect(room.snapshot().stage).toEqual({ name: 'over', why: 'left' });
  queue.fill(5);
  const again = load();
  await again.join();
  expect(stageOf(again)).toBe(6);
});

test('a known turn goes on after a reload while the waiting room is away', async () => {
  queue.grant('st_1');
  await load().join();
  queue.isAway = true;
  const room = load();
  await room.look();
  expect(room.snapshot().stage).toMatchObject({ name: 'turn', sessionToken: 'st_1' });
});

test('a turn whose window is over does not go on', async () => {
  new Memory('ana').writeTurn('m1', { sessionToken: 'st_1', expiresAt: new Date(Date.now() - 1).toISOString() });
  queue.isAway = true;
  const room = load();
  await room.look();
  expect(stageOf(room)).toBe('outside');
});

test('looking does not join', async () => {
  const room = load();
  await room.look();
  await room.look();
  expect(stageOf(room)).toBe('outside');
});
