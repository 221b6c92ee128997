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

const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const tell = (message: FromFans): void => void process.send?.(message);
const wallMs = (): number => performance.timeOrigin + performance.now();

const sockets = new Set<Socket>();
const turns: [string, number][] = [];
let [heard, wanted, lastAtMs] = [0, Infinity, 0];
let whenAll: () => void = () => undefined;

function hear(text: string): void {
  heard += 1;
  lastAtMs = wallMs();
  if (text.includes('turn_granted')) turns.push([/"session_token":"([^"]+)"/.exec(text)?.[1] ?? '', lastAtMs]);
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
    if (opcode === 1) hear(bytes.toString('latin1', at + head, at + head + length));
    if (opcode === 9) socket.write(PONG);
    at += head + length;
  }
  return bytes.subarray(at);
}

const FIRST_LOCAL_PORT = 10_000;
let nextLocalPort = FIRST_LOCAL_PORT;

function open({ port, localAddress }: ConnectOrder, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, localPort: nextLocalPort++ });
    socket.setNoDelay(true);
    let rest: Buffer = Buffer.alloc(0);
    let isOpen = false;
    socket.on('connect', () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
      ),
    );
    socket.on('data', (data: Buffer) => {
      let bytes = rest.length === 0 ? data : Buffer.concat([rest, data]);
      if (!isOpen) {
        const end = bytes.indexOf('\r\n\r\n');
        if (end < 0) return void (rest = bytes);
        isOpen = bytes.toString('latin1', 9, 12) === '101';
        if (!isOpen) socket.destroy();
        else sockets.add(socket);
        resolve(isOpen);
        bytes = bytes.subarray(end + 4);
      }
      rest = readFrames(socket, bytes);
    });
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
