// One process of fans' sockets, led over IPC: connects with as little as a WebSocket client can be, counts what arrives.
import { connect, type Socket } from 'node:net';

export interface ConnectOrder {
  readonly say: 'connect';
  readonly port: number;
  readonly paths: readonly string[];
  /**
   * Its own, with ports below those the system hands out: a port that was bound is lost for 60 s after its socket to everybody
   * on the machine, and 28,000 are soon gone.
   */
  readonly localAddress: string;
  /** Handshakes under way at once. */
  readonly atOnce: number;
}

export type ToFans =
  | ConnectOrder
  /** Resolves once this many messages have come since the last order; the reply says when the last one did. */
  | { readonly say: 'await'; readonly messages: number; readonly withinMs: number }
  /** What was granted since the last question: session token and when it was heard. */
  | { readonly say: 'turns' }
  | { readonly say: 'close' };

export type FromFans =
  | { readonly say: 'connected'; readonly seconds: number; readonly refused: number }
  | { readonly say: 'heard'; readonly messages: number; readonly lastAtMs: number }
  | { readonly say: 'turns'; readonly turns: readonly (readonly [token: string, atMs: number])[] };

const TURN = '{"type":"turn_granted"';
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const tell = (message: FromFans): void => void process.send?.(message);
const wallMs = (): number => performance.timeOrigin + performance.now();

const sockets = new Set<Socket>();
const turns: [string, number][] = [];
let [heard, wanted, lastAtMs] = [0, Infinity, 0];
let whenAll: () => void = () => undefined;

/** Only a turn is read as text: the crowd must not be what a push waits for. */
function hear(bytes: Buffer, from: number, to: number): void {
  heard += 1;
  lastAtMs = wallMs();
  if (bytes.toString('latin1', from, from + TURN.length) === TURN) {
    turns.push([/"session_token":"([^"]+)"/.exec(bytes.toString('latin1', from, to))?.[1] ?? '', lastAtMs]);
  }
  if (heard >= wanted) whenAll();
}

/** Returns what is left over of an unfinished frame. */
function readFrames(socket: Socket, bytes: Buffer): Buffer {
  let at = 0;
  while (bytes.length - at >= 2) {
    const short = bytes[at + 1]! & 0x7f;
    const head = short < 126 ? 2 : 4;
    if (bytes.length - at < head) break;
    const length = short < 126 ? short : bytes.readUInt16BE(at + 2);
    if (bytes.length - at < head + length) break;
    const opcode = bytes[at]! & 0x0f;
    if (opcode === 1) hear(bytes, at + head, at + head + length);
    if (opcode === 9) socket.write(PONG);
    at += head + length;
  }
  return bytes.subarray(at);
}

const FIRST_LOCAL_PORT = 10_000;
let nextLocalPort = FIRST_LOCAL_PORT;

/** All sockets read into one buffer, without streams: a message costs the crowd a third of what it would by 'data' events. */
const incoming = Buffer.alloc(64 * 1024);

function open({ port, localAddress }: ConnectOrder, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    let rest: Buffer | undefined;
    let isOpen = false;
    const read = (data: Buffer): void => {
      let bytes = rest ? Buffer.concat([rest, data]) : data;
      rest = undefined;
      if (!isOpen) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) return void (rest = Buffer.from(bytes));
        isOpen = bytes.toString('latin1', 9, 12) === '101';
        if (!isOpen) socket.destroy();
        else sockets.add(socket);
        resolve(isOpen);
        bytes = bytes.subarray(end + 4);
      }
      const left = readFrames(socket, bytes);
      // A copy: the buffer belongs to the next who reads.
      if (left.length > 0) rest = Buffer.from(left);
    };
    const onread = { buffer: incoming, callback: (length: number) => (read(incoming.subarray(0, length)), true) };
    const socket = connect({ port, host: '127.0.0.1', localAddress, localPort: nextLocalPort++, onread });
    socket.setNoDelay(true);
    socket.on('connect', () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
      ),
    );
    socket.on('error', () => resolve(false));
    socket.on('close', () => {
      sockets.delete(socket);
      resolve(false);
    });
  });
}

async function connectAll(order: ConnectOrder): Promise<void> {
  const from = performance.now();
  const waiting = [...order.paths];
  let refused = 0;
  const worker = async () => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) if (!(await open(order, path))) refused += 1;
  };
  await Promise.all(Array.from({ length: order.atOnce }, worker));
  tell({ say: 'connected', seconds: (performance.now() - from) / 1000, refused });
}

async function awaitAll(messages: number, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  wanted = messages;
  if (heard < wanted) {
    await new Promise<void>((resolve) => {
      whenAll = resolve;
      timer = setTimeout(resolve, withinMs);
    });
  }
  clearTimeout(timer);
  tell({ say: 'heard', messages: heard, lastAtMs });
  [heard, wanted] = [0, Infinity];
}

process.on('message', (order: ToFans) => {
  if (order.say === 'connect') void connectAll(order);
  if (order.say === 'await') void awaitAll(order.messages, order.withinMs);
  if (order.say === 'turns') tell({ say: 'turns', turns: turns.splice(0) });
  if (order.say === 'close') {
    for (const socket of sockets) socket.destroy();
    process.disconnect();
  }
});
process.on('disconnect', () => process.exit());
