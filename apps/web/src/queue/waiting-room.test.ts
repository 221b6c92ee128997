import { installFakeStorage } from '../testing/browser-storage.ts';
import { installFakeServer, problemResponse, type ReceivedRequest } from '../testing/fake-network.ts';
import type { Caller } from '../api/caller.ts';
import { TribinaApi } from '../api/tribina-api.ts';
import { PurchaseStore } from '../purchase-store.ts';
import { WaitingRoom } from './waiting-room.ts';

/** A fake queue service that can lose its line. A receipt restores the old position; a fan without a receipt joins at the end. */
class FakeQueue {
  private line: string[] = [];
  private indexByReceipt = new Map<string, number>();
  private turn: string | undefined;
  isDown = false;
  acceptsReceipts = true;

  loseLine(): void {
    this.line = [];
  }
  /** `count` other fans join at the end of the line. */
  fill(count: number): void {
    for (let n = 0; n < count; n += 1) this.line.push(`other-${this.line.length}`);
  }
  grant(sessionToken: string): void {
    this.turn = sessionToken;
  }

  readonly answer = ({ method, headers, body }: ReceivedRequest): Response => {
    if (this.isDown) return problemResponse(503, 'DEPENDENCY_UNAVAILABLE');
    const fan = headers.get('X-Mock-User-Id') ?? '';
    if (method === 'DELETE') {
      this.line = this.line.filter((other) => other !== fan);
      return new Response(null, { status: 204 });
    }
    if (method === 'POST') {
      const { receipt } = body as { receipt?: string };
      if (receipt && !this.acceptsReceipts) return problemResponse(400, 'VALIDATION_FAILED');
      if (!this.line.includes(fan)) this.line.splice(this.indexByReceipt.get(receipt ?? '') ?? this.line.length, 0, fan);
    }
    const index = this.line.indexOf(fan);
    if (index < 0) return problemResponse(404, 'NOT_FOUND');
    const receipt = `receipt-${fan}-${index}`;
    this.indexByReceipt.set(receipt, index);
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

const fan: Caller = { mode: 'mock', fanId: 'ana', signedIn: true, roles: [], headers: () => ({ 'X-Mock-User-Id': 'ana' }) };
let queue: FakeQueue;

beforeEach(() => {
  installFakeStorage();
  queue = new FakeQueue();
  installFakeServer(queue.answer);
});

/** A new waiting room, as after a reload of the page: it has only the data that the browser stored. */
const loadPage = () =>
  new WaitingRoom('m1', new TribinaApi({ queue_url: 'http://queue.example/', auth_mode: 'mock' }, fan), new PurchaseStore('ana'));
const positionOrStage = (room: WaitingRoom) => {
  const { stage } = room.snapshot();
  return stage.name === 'waiting' ? stage.line.position : stage.name;
};

test('join puts the fan at the end of the line', async () => {
  queue.fill(2);
  const room = loadPage();
  await room.join();
  expect(positionOrStage(room)).toBe(3);
});

test('after the queue service lost its line, joining with the receipt restores the exact position', async () => {
  queue.fill(2);
  await loadPage().join();
  queue.loseLine();
  queue.fill(50);
  const room = loadPage();
  await room.checkEntry();
  expect(positionOrStage(room)).toBe('outside');
  await room.join();
  expect(positionOrStage(room)).toBe(3);
});

test('after the queue service refuses the receipt, the fan joins at the end of the line', async () => {
  await loadPage().join();
  queue.loseLine();
  queue.fill(5);
  queue.acceptsReceipts = false;
  const room = loadPage();
  await room.join();
  expect(positionOrStage(room)).toBe(6);
});

test('leaving the line forgets the receipt, so that the next join is at the end', async () => {
  const room = loadPage();
  await room.join();
  await room.leave();
  expect(room.snapshot().stage).toEqual({ name: 'ended', reason: 'left' });
  queue.fill(5);
  const rejoined = loadPage();
  await rejoined.join();
  expect(positionOrStage(rejoined)).toBe(6);
});

test('a turn that the browser has stored continues after a reload, even while the queue service is down', async () => {
  queue.grant('st_1');
  await loadPage().join();
  queue.isDown = true;
  const room = loadPage();
  await room.checkEntry();
  expect(room.snapshot().stage).toMatchObject({ name: 'turn', sessionToken: 'st_1' });
});

test('a turn that the browser has stored does not continue after its window has expired', async () => {
  new PurchaseStore('ana').writeTurn('m1', { sessionToken: 'st_1', expiresAt: new Date(Date.now() - 1).toISOString() });
  queue.isDown = true;
  const room = loadPage();
  await room.checkEntry();
  expect(positionOrStage(room)).toBe('outside');
});

test('checkEntry does not join the line', async () => {
  const room = loadPage();
  await room.checkEntry();
  await room.checkEntry();
  expect(positionOrStage(room)).toBe('outside');
});
