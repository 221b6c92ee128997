import net from 'node:net';

/** What happens when a client sends certain bytes, once. */
export interface Trap {
  /**
   * What the client says: `COMMIT\0` is PostgreSQL's COMMIT message, `EVALSHA` a command of Redis. Or who knows it when it
   * comes; asked about each message, with something that is the same for all messages of a connection.
   */
  readonly whenSent: string | ((bytes: Buffer, connection: object) => boolean);
  /** Whether the server still hears it. */
  readonly passOn: boolean;
  /**
   * `cut` breaks this connection; `silence` keeps it open and lets nothing more through, as a network that drops packets;
   * `wait` keeps what is sent from here on until `release`, as a network that is slow.
   */
  readonly then: 'cut' | 'silence' | 'wait';
}

interface Pair {
  readonly client: net.Socket;
  readonly server: net.Socket;
  silent: boolean;
  /** What waits to be let through. */
  kept: Buffer[] | undefined;
}

/**
 * A network between us and a server, for breaking it: cuts, silences or delays one connection at an exact message, or all of
 * them, and refuses new ones, until `restore`.
 */
export class TcpProxy {
  /** How much later each message arrives, in either direction. */
  delayMs = 0;
  private target: { host: string; port: number };
  private readonly targetUrl: string;
  private readonly pairs = new Set<Pair>();
  private readonly listener = net.createServer((client) => this.accept(client));
  private traps: { trap: Trap; sprung: () => void }[] = [];
  private readonly rewritings: { said: string; heard: string }[] = [];
  /** Messages in which something was rewritten. */
  rewritten = 0;
  private state: 'open' | 'refusing' | 'silent' = 'open';

  private constructor(targetUrl: string) {
    this.target = placeOf(targetUrl);
    this.targetUrl = targetUrl;
  }

  static async inFrontOf(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetUrl);
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

  /** Every connection breaks, and new ones lead to another server: the address of a primary after a failover. */
  leadTo(url: string): void {
    this.target = placeOf(url);
    for (const pair of this.pairs) this.cut(pair);
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

  /** What waits arrives, in its order. */
  release(): void {
    for (const pair of this.pairs) {
      for (const bytes of pair.kept ?? []) pair.server.write(bytes);
      pair.kept = undefined;
    }
  }

  /** From now on clients are heard to say one text for another of the same length: what messages say of their length stays true. */
  rewrite(said: string, heard: string): void {
    if (said.length !== heard.length) throw new Error('the texts differ in length');
    this.rewritings.push({ said, heard });
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
    const pair: Pair = { client, server, silent: this.state === 'silent', kept: undefined };
    this.pairs.add(pair);
    const toServer = this.late((bytes) => this.fromClient(pair, this.heard(bytes)));
    const toClient = this.late((bytes) => {
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

  /** Passes on after the delay, never overtaking what came before. */
  private late(passOn: (bytes: Buffer) => void): (bytes: Buffer) => void {
    let dueAt = 0;
    const onTheWay: Buffer[] = [];
    return (bytes) => {
      if (this.delayMs === 0 && onTheWay.length === 0) return passOn(bytes);
      const now = Date.now();
      dueAt = Math.max(dueAt, now + this.delayMs);
      onTheWay.push(bytes);
      // Timers of different lengths that are due at the same moment fire in any order: whichever does, the first one leaves.
      setTimeout(() => passOn(onTheWay.shift()!), dueAt - now);
    };
  }

  private heard(bytes: Buffer): Buffer {
    const rewritings = this.rewritings.filter(({ said }) => bytes.includes(said));
    if (rewritings.length === 0) return bytes;
    this.rewritten += 1;
    const text = rewritings.reduce((all, { said, heard }) => all.replaceAll(said, heard), bytes.toString('latin1'));
    return Buffer.from(text, 'latin1');
  }

  private fromClient(pair: Pair, bytes: Buffer): void {
    if (pair.kept) return void pair.kept.push(bytes);
    if (pair.silent) return;
    const sprung = this.traps.find(({ trap: { whenSent } }) =>
      typeof whenSent === 'string' ? bytes.includes(whenSent) : whenSent(bytes, pair),
    );
    if (!sprung) {
      pair.server.write(bytes);
      return;
    }
    this.traps = this.traps.filter((other) => other !== sprung);
    const { passOn, then } = sprung.trap;
    if (then === 'wait') pair.kept = passOn ? [] : [bytes];
    else pair.silent = true;
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

function placeOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
