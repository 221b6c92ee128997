import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { LOGS_TO_STDERR } from '../instruments/service.ts';
import type { FromFans, ToFans } from './fans.ts';

const SCRIPT = path.join(import.meta.dirname, 'fans.ts');
/** Sockets per process of fans: half of the 20,000 files that a process may open. */
const SOCKETS_PER_PROCESS = 10_000;
const ANSWER_TIMEOUT_MS = 180_000;

/** Counts up the local addresses (127.x.x.x) from which fans connect: each process of fans gets one that was not used recently. */
let nextAddress = Math.floor(Math.random() * 60_000);
function unusedAddress(): string {
  nextAddress += 1;
  return `127.${1 + (Math.floor(nextAddress / 250) % 250)}.0.${2 + (nextAddress % 250)}`;
}

/** Sockets of fans in separate processes (fans.ts). */
export class FanSockets {
  readonly #children: ChildProcess[] = [];
  readonly #sizes: number[] = [];

  private constructor() {}

  /** Opens all sockets. `targets`: port and path of each socket. */
  static async connect(
    targets: readonly { port: number; path: string }[],
    atOnce = 100,
  ): Promise<FanSockets & { seconds: number }> {
    const ofPort = Map.groupBy(targets, ({ port }) => port).values();
    const groups = [...ofPort].flatMap((samePort) =>
      Array.from({ length: Math.ceil(samePort.length / SOCKETS_PER_PROCESS) }, (_, at) =>
        samePort.slice(at * SOCKETS_PER_PROCESS, (at + 1) * SOCKETS_PER_PROCESS),
      ),
    );
    const fanSockets = new FanSockets();
    const connected = await Promise.all(
      groups.map(async (group) => {
        const child = fork(SCRIPT, [], { stdio: LOGS_TO_STDERR });
        fanSockets.#children.push(child);
        fanSockets.#sizes.push(group.length);
        const paths = group.map((target) => target.path);
        const order = { type: 'connect', port: group[0]!.port, paths, localAddress: unusedAddress(), atOnce } as const;
        return fanSockets.request(child, order, 'connected');
      }),
    );
    const refused = connected.reduce((sum, { refused: count }) => sum + count, 0);
    if (refused > 0) throw new Error(`${refused} of ${targets.length} sockets were refused`);
    return Object.assign(fanSockets, { seconds: Math.max(...connected.map(({ seconds }) => seconds)) });
  }

  /** Waits until each socket has received `perSocket` messages. Returns the arrival time of the last message; throws after the timeout. */
  async waitForMessages(perSocket: number, withinMs = 30_000): Promise<number> {
    const received = await Promise.all(
      this.#children.map((child, at) =>
        this.request(child, { type: 'await', messages: this.#sizes[at]! * perSocket, withinMs }, 'received'),
      ),
    );
    const missing = received.reduce((sum, { messages }, at) => sum + Math.max(0, this.#sizes[at]! * perSocket - messages), 0);
    if (missing > 0) throw new Error(`${missing} messages were not received`);
    return Math.max(...received.map(({ lastAtMs }) => lastAtMs));
  }

  /** Arrival times of the `turn_granted` messages since the last call, by session token. */
  async turns(): Promise<Map<string, number>> {
    const all = await Promise.all(this.#children.map((child) => this.request(child, { type: 'turns' }, 'turns')));
    return new Map(all.flatMap(({ turns }) => turns));
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        const exited = new Promise((resolve) => child.once('exit', resolve));
        if (child.connected) child.send({ type: 'close' } satisfies ToFans);
        await exited;
      }),
    );
  }

  private request<S extends FromFans['type']>(child: ChildProcess, order: ToFans, answer: S) {
    return new Promise<Extract<FromFans, { type: S }>>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${answer} within three minutes`)), ANSWER_TIMEOUT_MS);
      const onMessage = (message: FromFans) => {
        if (message.type !== answer) return;
        child.off('message', onMessage);
        clearTimeout(timer);
        resolve(message as Extract<FromFans, { type: S }>);
      };
      child.on('message', onMessage);
      child.send(order);
    });
  }
}
