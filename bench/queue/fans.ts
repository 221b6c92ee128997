// One process with sockets of fans, controlled over IPC. A minimal WebSocket client that connects and counts messages.
import { connect, type Socket } from 'node:net';

/** Tells the process to open one WebSocket for each path. */
export interface ConnectCommand {
  readonly type: 'connect';
  readonly port: number;
  readonly paths: readonly string[];
  /**
   * A local address (127.x.x.x) that only this process connects from. It chooses the local ports itself, below the range from which
   * the system chooses: that range has only 28,000 ports, and a bound port cannot be bound again for 60 s, by any process of the
   * machine.
   */
  readonly localAddress: string;
  /** Number of handshakes at the same time. */
  readonly atOnce: number;
}

/** A message to a process of fan sockets. */
export type ToFans =
  | ConnectCommand
  /** Asks for an answer once this many messages have arrived since the last `await`. The answer contains the arrival time of the last. */
  | { readonly type: 'await'; readonly messages: number; readonly withinMs: number }
  /** Asks for the turns granted since the last `turns` message, each as session token and arrival time. */
  | { readonly type: 'turns' }
  | { readonly type: 'close' };

/** An answer of a process of fan sockets. */
export type FromFans =
  | { readonly type: 'connected'; readonly seconds: number; readonly refused: number }
  | { readonly type: 'received'; readonly messages: number; readonly lastAtMs: number }
  | { readonly type: 'turns'; readonly turns: readonly (readonly [token: string, atMs: number])[] };

const TURN = '{"type":"turn_granted"';
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const send = (message: FromFans): void => void process.send?.(message);
const wallMs = (): number => performance.timeOrigin + performance.now();

const sockets = new Set<Socket>();
const turns: [string, number][] = [];
let [receivedCount, targetCount, lastAtMs] = [0, Infinity, 0];
let onTarget: () => void = () => undefined;

/** Counts a message. Only `turn_granted` messages are parsed, so that the receiving side does not slow down a push. */
function countMessage(bytes: Buffer, from: number, to: number): void {
  receivedCount += 1;
  lastAtMs = wallMs();
  if (bytes.toString('latin1', from, from + TURN.length) === TURN) {
    turns.push([/"session_token":"([^"]+)"/.exec(bytes.toString('latin1', from, to))?.[1] ?? '', lastAtMs]);
  }
  if (receivedCount >= targetCount) onTarget();
}

/** Counts the complete WebSocket frames in `bytes`. Returns the bytes of the last frame if it is incomplete. */
function readFrames(socket: Socket, bytes: Buffer): Buffer {
  let at = 0;
  while (bytes.length - at >= 2) {
    const short = bytes[at + 1]! & 0x7f;
    const head = short < 126 ? 2 : 4;
    if (bytes.length - at < head) break;
    const length = short < 126 ? short : bytes.readUInt16BE(at + 2);
    if (bytes.length - at < head + length) break;
    const opcode = bytes[at]! & 0x0f;
    if (opcode === 1) countMessage(bytes, at + head, at + head + length);
    if (opcode === 9) socket.write(PONG);
    at += head + length;
  }
  return bytes.subarray(at);
}

const FIRST_LOCAL_PORT = 10_000;
let nextLocalPort = FIRST_LOCAL_PORT;

/** All sockets read into this buffer, without streams: a message costs a third of the processor time of 'data' events. */
const incoming = Buffer.alloc(64 * 1024);

function open({ port, localAddress }: ConnectCommand, path: string): Promise<boolean> {
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
      const unfinished = readFrames(socket, bytes);
      // Copy the bytes: the next read of any socket overwrites the buffer.
      if (unfinished.length > 0) rest = Buffer.from(unfinished);
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

async function connectAll(order: ConnectCommand): Promise<void> {
  const from = performance.now();
  const remainingPaths = [...order.paths];
  let refused = 0;
  const worker = async () => {
    for (let path = remainingPaths.pop(); path !== undefined; path = remainingPaths.pop())
      if (!(await open(order, path))) refused += 1;
  };
  await Promise.all(Array.from({ length: order.atOnce }, worker));
  send({ type: 'connected', seconds: (performance.now() - from) / 1000, refused });
}

async function awaitAll(messages: number, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  targetCount = messages;
  if (receivedCount < targetCount) {
    await new Promise<void>((resolve) => {
      onTarget = resolve;
      timer = setTimeout(resolve, withinMs);
    });
  }
  clearTimeout(timer);
  send({ type: 'received', messages: receivedCount, lastAtMs });
  [receivedCount, targetCount] = [0, Infinity];
}

process.on('message', (order: ToFans) => {
  if (order.type === 'connect') void connectAll(order);
  if (order.type === 'await') void awaitAll(order.messages, order.withinMs);
  if (order.type === 'turns') send({ type: 'turns', turns: turns.splice(0) });
  if (order.type === 'close') {
    for (const socket of sockets) socket.destroy();
    process.disconnect();
  }
});
process.on('disconnect', () => process.exit());
