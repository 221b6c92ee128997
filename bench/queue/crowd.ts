import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { LOGS_TO_STDERR } from '../instruments/service.ts';
import type { FromFans, ToFans } from './fans.ts';

const SCRIPT = path.join(import.meta.dirname, 'fans.ts');
/** A process may hold 20,000 files; fans of one process come from one address. */
const PER_PROCESS = 10_000;
const PATIENCE_MS = 180_000;

/** Each process of fans comes from an address nobody came from lately. */
let nextAddress = Math.floor(Math.random() * 60_000);
function ownAddress(): string {
  nextAddress += 1;
  return `127.${1 + (Math.floor(nextAddress / 250) % 250)}.0.${2 + (nextAddress % 250)}`;
}

/** Sockets of fans in processes of their own. */
export class Crowd {
  readonly #children: ChildProcess[] = [];
  readonly #sizes: number[] = [];

  private constructor() {}

  /** `targets`: port and path of each socket. */
  static async connect(targets: readonly { port: number; path: string }[], atOnce = 100): Promise<Crowd & { seconds: number }> {
    const groups = Map.groupBy(
      targets.map((target, at) => ({ ...target, group: `${target.port} ${Math.floor(at / PER_PROCESS)}` })),
      ({ group }) => group,
    );
    const crowd = new Crowd();
    const connected = await Promise.all(
      [...groups.values()].map(async (group) => {
        const child = fork(SCRIPT, [], { stdio: LOGS_TO_STDERR });
        crowd.#children.push(child);
        crowd.#sizes.push(group.length);
        const paths = group.map((target) => target.path);
        const order = { say: 'connect', port: group[0]!.port, paths, localAddress: ownAddress(), atOnce } as const;
        return crowd.ask(child, order, 'connected');
      }),
    );
    const refused = connected.reduce((sum, one) => sum + one.refused, 0);
    if (refused > 0) throw new Error(`${refused} of ${targets.length} sockets were refused`);
    return Object.assign(crowd, { seconds: Math.max(...connected.map(({ seconds }) => seconds)) });
  }

  /** When the last of so many messages a socket had come, by the wall clock; fails when they do not come. */
  async heardAll(perSocket: number, withinMs = 30_000): Promise<number> {
    const heard = await Promise.all(
      this.#children.map((child, at) =>
        this.ask(child, { say: 'await', messages: this.#sizes[at]! * perSocket, withinMs }, 'heard'),
      ),
    );
    const missing = heard.reduce((sum, { messages }, at) => sum + Math.max(0, this.#sizes[at]! * perSocket - messages), 0);
    if (missing > 0) throw new Error(`${missing} messages did not come`);
    return Math.max(...heard.map(({ lastAtMs }) => lastAtMs));
  }

  async turns(): Promise<Map<string, number>> {
    const all = await Promise.all(this.#children.map((child) => this.ask(child, { say: 'turns' }, 'turns')));
    return new Map(all.flatMap(({ turns }) => turns));
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        const gone = new Promise((resolve) => child.once('exit', resolve));
        if (child.connected) child.send({ say: 'close' } satisfies ToFans);
        await gone;
      }),
    );
  }

  private ask<S extends FromFans['say']>(child: ChildProcess, order: ToFans, answer: S) {
    return new Promise<Extract<FromFans, { say: S }>>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${answer} within three minutes`)), PATIENCE_MS);
      const hear = (message: FromFans) => {
        if (message.say !== answer) return;
        child.off('message', hear);
        clearTimeout(timer);
        resolve(message as Extract<FromFans, { say: S }>);
      };
      child.on('message', hear);
      child.send(order);
    });
  }
}
