import net from 'node:net';

/** A TCP proxy to Redis. A test can cut all connections, or keep them open and drop all data (`silence`). */
export class RedisLink {
  private readonly sockets = new Set<net.Socket>();
  private mode: 'open' | 'cut' | 'silent' = 'open';

  private constructor(
    private readonly server: net.Server,
    readonly url: string,
  ) {}

  static async to(redisUrl: string): Promise<RedisLink> {
    const target = new URL(redisUrl);
    const server = net.createServer((client) => link.connect(client, Number(target.port), target.hostname));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as net.AddressInfo;
    const link: RedisLink = new RedisLink(server, `redis://127.0.0.1:${port}${target.pathname}`);
    return link;
  }

  cut(): void {
    this.mode = 'cut';
    for (const socket of this.sockets) socket.destroy();
  }

  silence(): void {
    this.mode = 'silent';
  }

  restore(): void {
    this.mode = 'open';
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private connect(client: net.Socket, port: number, host: string): void {
    if (this.mode === 'cut') return void client.destroy();
    const upstream = net.connect(port, host);
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      this.sockets.add(from);
      from.on('data', (data) => this.mode === 'open' && to.write(data));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}
