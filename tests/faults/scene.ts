import { TcpProxy } from '#testing/tcp-proxy';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { findBrokenInvariants } from '../../bench/instruments/verified.ts';
import type { OwnServers } from '../../bench/instruments/own-servers.ts';
import { Fan, type Match } from './fan.ts';
import { History } from './history.ts';
import { Replica } from './replica.ts';

/**
 * Settings of the replicas. Rate limits are off, because all fans have the same IP address. Holds last longer than every scenario except
 * those about expiry. No service runs at QUEUE_INTERNAL_URL, because by default the matches have no waiting room. Nothing is rehearsed,
 * because scenarios count the messages to PostgreSQL and Redis.
 */
const SETTINGS = {
  QUEUE_INTERNAL_URL: 'http://127.0.0.1:9',
  RATE_LIMIT_USER_PER_MINUTE: '0',
  RATE_LIMIT_WRITES_PER_MINUTE: '0',
  HOLD_COOLDOWN_AFTER: '0',
  RATE_LIMIT_IP_PER_MINUTE: '0',
  RESERVATION_HOLD_SECONDS: '3600',
  WARM_UP: 'false',
  LOG_LEVEL: 'fatal',
};
const HOUR_MS = 3_600_000;

interface Addresses {
  /** The address that this replica uses for the database: that of a proxy if the test breaks its network. */
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
}

interface SceneOptions {
  readonly servers?: OwnServers | undefined;
  /** Finds broken invariants in the database. Default: the CLI command `verify`, which takes a second to start. */
  readonly verify?: typeof findBrokenInvariants;
}

/** The environment of a scenario: a database, a Redis, monolith replicas, fans, and actions that break servers and networks. */
export class Scene {
  readonly history = new History();
  readonly replicas: Replica[] = [];
  /** Servers that a scenario may kill and start again. Undefined if the servers are shared with other tests. */
  readonly servers: OwnServers | undefined;
  databaseUrl: string;
  readonly redisUrl: string;
  readonly redis: TestRedis;
  readonly #verify: typeof findBrokenInvariants;
  readonly #database: TestDatabase;
  readonly #proxies: TcpProxy[] = [];
  readonly #sessions: pg.Client[] = [];
  readonly #onClose: (() => Promise<void>)[] = [];
  #nextIndex = 0;
  #reusable: Replica[] = [];

  private constructor(database: TestDatabase, redis: TestRedis, { servers, verify = findBrokenInvariants }: SceneOptions) {
    this.#database = database;
    this.databaseUrl = database.url;
    this.redis = redis;
    this.redisUrl = redis.url;
    this.servers = servers;
    this.#verify = verify;
  }

  /** The addresses of the test servers come from environment variables (see libs/testing). */
  static async open(options: SceneOptions = {}): Promise<Scene> {
    const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
    return new Scene(database, redis, options);
  }

  /** Prepares for the next scenario: repairs all proxies and makes the living replicas available for reuse. */
  startScenario(): void {
    for (const proxy of this.#proxies) proxy.restore();
    this.#reusable = this.replicas.filter(({ isAlive }) => isAlive);
  }

  /** Returns a replica with these settings. Without `addresses` it may be a replica of an earlier scenario, otherwise a new one starts. */
  async start(settings: Record<string, string> = {}, addresses: Addresses = {}): Promise<Replica> {
    const reused =
      Object.keys(addresses).length === 0
        ? this.#reusable.find((replica) => replica.isAlive && isDeepStrictEqual(replica.settings, settings))
        : undefined;
    this.#reusable = this.#reusable.filter((replica) => replica !== reused);
    if (reused) return reused;
    const { databaseUrl = this.databaseUrl, redisUrl = this.redisUrl } = addresses;
    const replica = await Replica.start(settings, { ...SETTINGS, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
    this.replicas.push(replica);
    return replica;
  }

  /** A proxy to the database or to Redis, through which the test can break the network. */
  async proxyTo(url: string): Promise<TcpProxy> {
    const proxy = await TcpProxy.inFrontOf(url);
    this.#proxies.push(proxy);
    return proxy;
  }

  /** From now on the scene uses the database of the same name on this other server. */
  switchDatabase(serverUrl: string): void {
    const url = new URL(serverUrl);
    url.pathname = new URL(this.databaseUrl).pathname;
    this.databaseUrl = url.href;
  }

  onClose(work: () => Promise<void>): void {
    this.#onClose.push(work);
  }

  /** The next living replica: each call returns another replica, in a cycle. */
  nextReplica(): Replica | undefined {
    const living = this.replicas.filter(({ isAlive }) => isAlive);
    this.#nextIndex += 1;
    return living[this.#nextIndex % living.length];
  }

  fan(replica: () => Replica | undefined = () => this.nextReplica()): Fan {
    return new Fan(this.history, replica);
  }

  /** Creates a match with an open sale. Each sector has `rows` rows of 20 seats. */
  async openSale(rows: number, sectors = 1, fields: Record<string, unknown> = {}): Promise<Match> {
    const body = {
      ...{ home: 'Hrvatska', away: 'Italija', venue: 'Maksimir', currency: 'EUR' },
      ...{ max_tickets_per_fan: 20, queue_required: false },
      kickoff_at: new Date(Date.now() + 48 * HOUR_MS).toISOString(),
      opens_at: new Date(Date.now() - HOUR_MS).toISOString(),
      sectors: Array.from({ length: sectors }, (_, index) => ({
        ...{ name: `Sector ${index + 1}`, kind: 'seated', price_cents: 2500, rows, seats_per_row: 20 },
      })),
      ...fields,
    };
    const headers = {
      'content-type': 'application/json',
      'x-mock-user-id': '0190a000-0000-7000-8000-00000000000a',
      'x-mock-roles': 'ops',
      'idempotency-key': crypto.randomUUID().replaceAll('-', ''),
    };
    const answer = await fetch(`${this.nextReplica()?.url}/api/v1/ops/matches`, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    if (answer.status !== 201) throw new Error(`the match was not created: ${await answer.text()}`);
    return (await answer.json()) as Match;
  }

  /** A database session that bypasses all proxies, for holding locks. */
  async session(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    this.#sessions.push(client);
    return client;
  }

  async redisCall(command: string, ...words: string[]): Promise<unknown> {
    const client = new Redis(this.redisUrl);
    try {
      return await client.call(command, ...words);
    } finally {
      client.disconnect();
    }
  }

  async rows<T extends pg.QueryResultRow>(sql: string, parameters: unknown[] = []): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      return (await client.query<T>(sql, parameters)).rows;
    } finally {
      await client.end();
    }
  }

  /** The invariants of the database that `verify` finds broken. */
  verify(): Promise<string[]> {
    return this.#verify(this);
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await Promise.all(this.#sessions.map((session) => session.end().catch(() => undefined)));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await Promise.all(this.#onClose.map((work) => work()));
    await this.#database.close();
    await this.redis.close().catch(() => undefined);
  }
}
