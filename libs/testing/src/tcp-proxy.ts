import net from 'node:net';

/** What happens when a client sends bytes that contain a text, once. */
export interface Trap {
  /** What the client says: `COMMIT\0` is PostgreSQL's COMMIT message, `EVALSHA` a command of Redis. */
  readonly whenSent: string;
  /** Whether the server still hears it. */
  readonly passOn: boolean;
  /** `cut` breaks this connection; `silence` keeps it open and lets nothing more through, as a network that drops packets. */
  readonly then: 'cut' | 'silence';
}

interface Pair {
  readonly client: net.Socket;
  readonly server: net.Socket;
  silent: boolean;
}

/**
 * A network between us and a server, for breaking it: cuts or silences one connection at an exact message, or all of them,
 * and refuses new ones, until `restore`.
 */
export class TcpProxy {
  private readonly pairs = new Set<Pair>();
  private readonly listener = net.createServer((client) => this.accept(client));
  private traps: { trap: Trap; sprung: () => void }[] = [];
  private state: 'open' | 'refusing' | 'silent' = 'open';

  private constructor(
    private readonly target: { host: string; port: number },
    private readonly targetUrl: string,
  ) {}

  static async inFrontOf(targetUrl: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(targetUrl);
    const proxy = new TcpProxy({ host: hostname, port: Number(port) }, targetUrl);
    await new Promise<void>((resolve) => proxy.listener.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The target's URL with this proxy's address. */
  get url(): string {
    const url = new URL(this.targetUrl);
    url.host = `127.0.0.1:${(this.listener.address() as net.AddressInfo).port}`;
    return url.href;
  }

  get connections(): number {
    return this.pairs.size;
  }

  /** Sets a trap; resolves when it has sprung. Traps set for the same text spring one after the other. */
  setTrap(trap: Trap): Promise<void> {
    return new Promise((sprung) => this.traps.push({ trap, sprung }));
  }

  /** Breaks every connection and accepts no new one: the server is down. */
  refuse(): void {
    this.state = 'refusing';
    for (const pair of this.pairs) this.cut(pair);
  }

  /** Every connection stays open, new ones are accepted, and nothing is heard on any of them: a black hole. */
  silence(): void {
    this.state = 'silent';
    for (const pair of this.pairs) pair.silent = true;
  }

  /** New connections work again; what was silenced stays so, because its stream has a hole. */
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
    const pair: Pair = { client, server, silent: this.state === 'silent' };
    this.pairs.add(pair);
    client.on('data', (bytes) => this.fromClient(pair, bytes));
    server.on('data', (bytes) => {
      if (!pair.silent) client.write(bytes);
    });
    for (const socket of [client, server]) {
      socket.on('error', () => this.cut(pair));
      socket.on('close', () => this.cut(pair));
    }
  }

  private fromClient(pair: Pair, bytes: Buffer): void {
    if (pair.silent) return;
    const sprung = this.traps.find(({ trap }) => bytes.includes(trap.whenSent));
    if (!sprung) {
      pair.server.write(bytes);
      return;
    }
    this.traps = this.traps.filter((other) => other !== sprung);
    const { passOn, then } = sprung.trap;
    pair.silent = true;
    if (passOn) pair.server.write(bytes);
    if (then === 'cut') this.cut(pair);
    sprung.sprung();
  }

  /** The server gets what was written to it before it hears of the end; the client gets a reset. */
  private cut(pair: Pair): void {
    if (!this.pairs.delete(pair)) return;
    pair.server.end();
    pair.client.resetAndDestroy();
  }
}
