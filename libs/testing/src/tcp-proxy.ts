import net from 'node:net';

/** A fault that the proxy injects once, when a client sends certain bytes. */
export interface Trap {
  /**
   * The bytes that trigger the trap, such as `COMMIT\0` (PostgreSQL's COMMIT message) or `EVALSHA` (a command of Redis). Or a
   * function that is called for each message and returns true to trigger the trap; `connection` is the same object for all
   * messages of one connection.
   */
  readonly whenSent: string | ((bytes: Buffer, connection: object) => boolean);
  /** Whether the server still receives the message that triggered the trap. */
  readonly passOn: boolean;
  /**
   * `cut` breaks the connection. `silence` keeps it open but drops all later data in both directions, like a network that loses
   * packets. `wait` delays later messages to the server until `release`, like a slow network.
   */
  readonly then: 'cut' | 'silence' | 'wait';
}

interface Pair {
  readonly client: net.Socket;
  readonly server: net.Socket;
  silent: boolean;
  /** Messages to the server that wait for `release`. */
  delayed: Buffer[] | undefined;
}

/**
 * A TCP proxy in front of a server that simulates network faults. With a trap it cuts, silences or delays one connection at an exact
 * message. Other methods cut, silence or delay all connections, or refuse new ones until `restore`.
 */
export class TcpProxy {
  /** Delay of each message, in both directions. */
  delayMs = 0;
  private target: { host: string; port: number };
  private readonly targetUrl: string;
  private readonly pairs = new Set<Pair>();
  private readonly listener = net.createServer((client) => this.accept(client));
  private traps: { trap: Trap; onTriggered: () => void }[] = [];
  private readonly replacements: { from: string; to: string }[] = [];
  /** The number of messages in which `rewrite` replaced text. */
  rewritten = 0;
  private state: 'open' | 'refusing' | 'silent' = 'open';

  private constructor(targetUrl: string) {
    this.target = addressOf(targetUrl);
    this.targetUrl = targetUrl;
  }

  static async inFrontOf(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetUrl);
    await new Promise<void>((resolve) => proxy.listener.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The URL of the server, with the address of this proxy in place of the server's address. */
  get url(): string {
    const url = new URL(this.targetUrl);
    url.host = `127.0.0.1:${(this.listener.address() as net.AddressInfo).port}`;
    return url.href;
  }

  get connections(): number {
    return this.pairs.size;
  }

  /** Breaks all connections and sends new ones to another server, like the address of a primary after a failover. */
  redirectTo(url: string): void {
    this.target = addressOf(url);
    for (const pair of this.pairs) this.cut(pair);
  }

  /** Sets a trap; resolves when a message has triggered it. A message triggers at most one trap: the one that was set first. */
  setTrap(trap: Trap): Promise<void> {
    return new Promise((onTriggered) => this.traps.push({ trap, onTriggered }));
  }

  /** Breaks all connections and refuses new ones, as if the server were down. */
  refuse(): void {
    this.state = 'refusing';
    for (const pair of this.pairs) this.cut(pair);
  }

  /** Keeps connections open and accepts new ones, but drops all data, in both directions (a black hole). */
  silence(): void {
    this.state = 'silent';
    for (const pair of this.pairs) pair.silent = true;
  }

  /** Sends the messages that a trap `wait` has delayed to the server, in their order. */
  release(): void {
    for (const pair of this.pairs) {
      for (const bytes of pair.delayed ?? []) pair.server.write(bytes);
      pair.delayed = undefined;
    }
  }

  /** Replaces text in messages to the server. Both texts must have the same length, because messages contain their own length. */
  rewrite(from: string, to: string): void {
    if (from.length !== to.length) throw new Error('the texts differ in length');
    this.replacements.push({ from, to });
  }

  /**
   * Accepts new connections again and removes all traps. Silenced connections stay silent, because data is missing in their
   * streams.
   */
  restore(): void {
    this.state = 'open';
    this.traps = [];
  }

  async close(): Promise<void> {
    for (const pair of this.pairs) this.cut(pair);
    await new Promise<void>((resolve) => this.listener.close(() => resolve()));
  }

  private accept(client: net.Socket): void {
    if (this.state === 'refusing') {
      client.resetAndDestroy();
      return;
    }
    const server = net.connect(this.target);
    const pair: Pair = { client, server, silent: this.state === 'silent', delayed: undefined };
    this.pairs.add(pair);
    const toServer = this.withDelay((bytes) => this.fromClient(pair, this.replaceText(bytes)));
    const toClient = this.withDelay((bytes) => {
      if (!pair.silent) client.write(bytes);
    });
    client.on('data', toServer);
    server.on('data', toClient);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.cut(pair));
      socket.on('close', () => this.cut(pair));
    }
  }

  /** Forwards messages after `delayMs`, always in their order. */
  private withDelay(forward: (bytes: Buffer) => void): (bytes: Buffer) => void {
    let dueAt = 0;
    const inTransit: Buffer[] = [];
    return (bytes) => {
      if (this.delayMs === 0 && inTransit.length === 0) return forward(bytes);
      const now = Date.now();
      dueAt = Math.max(dueAt, now + this.delayMs);
      inTransit.push(bytes);
      // Timers that are due at the same moment may fire in any order, so each one forwards the oldest message, not its own.
      setTimeout(() => forward(inTransit.shift()!), dueAt - now);
    };
  }

  private replaceText(bytes: Buffer): Buffer {
    const matching = this.replacements.filter(({ from }) => bytes.includes(from));
    if (matching.length === 0) return bytes;
    this.rewritten += 1;
    const text = matching.reduce((all, { from, to }) => all.replaceAll(from, to), bytes.toString('latin1'));
    return Buffer.from(text, 'latin1');
  }

  private fromClient(pair: Pair, bytes: Buffer): void {
    if (pair.delayed) return void pair.delayed.push(bytes);
    if (pair.silent) return;
    const triggered = this.traps.find(({ trap: { whenSent } }) =>
      typeof whenSent === 'string' ? bytes.includes(whenSent) : whenSent(bytes, pair),
    );
    if (!triggered) {
      pair.server.write(bytes);
      return;
    }
    this.traps = this.traps.filter((other) => other !== triggered);
    const { passOn, then } = triggered.trap;
    if (then === 'wait') pair.delayed = passOn ? [] : [bytes];
    else pair.silent = true;
    if (passOn) pair.server.write(bytes);
    if (then === 'cut') this.cut(pair);
    triggered.onTriggered();
  }

  /**
   * Breaks a connection. The server receives everything that was written before, then the end of the connection. The client gets
   * a reset.
   */
  private cut(pair: Pair): void {
    if (!this.pairs.delete(pair)) return;
    pair.server.end();
    pair.client.resetAndDestroy();
  }
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
