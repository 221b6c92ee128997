import { TcpProxy } from '#testing/tcp-proxy';
import { createTestDatabase, createTestRedis, type TestDatabase, type TestRedis } from '#testing/test-database';
import { Redis } from 'ioredis';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { brokenIn } from '../../bench/instruments/verified.ts';
import type { OwnServers } from '../../bench/instruments/own-servers.ts';
import { Fan, type Match } from './fan.ts';
import { History } from './history.ts';
import { Replica } from './replica.ts';

/**
 * Rate limits off: every fan comes from one address. Holds outlive every scenario but those that are about their end. Nobody
 * is where the waiting room would be: no match here has one.
 */
const SETTINGS = {
  QUEUE_INTERNAL_URL: 'http://127.0.0.1:9',
  RATE_LIMIT_USER_PER_MINUTE: '0',
  RATE_LIMIT_IP_PER_MINUTE: '0',
  RESERVATION_HOLD_SECONDS: '3600',
  LOG_LEVEL: 'fatal',
};
const HOUR_MS = 3_600_000;

interface Where {
  /** The database as this replica reaches it: a proxy's address, where its network is to be broken. */
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
}

interface Parts {
  readonly servers?: OwnServers | undefined;
  /** The product's own proof; by its command, which takes a second to start, unless told otherwise. */
  readonly verify?: typeof brokenIn;
}

/** A database, a Redis, the replicas of the monolith over them, the fans, and what can be done to all of these. */
export class Scene {
  readonly history = new History();
  readonly replicas: Replica[] = [];
  /** Killed and started again by some scenarios; there are none where the servers are shared with others. */
  readonly servers: OwnServers | undefined;
  databaseUrl: string;
  readonly redisUrl: string;
  readonly redis: TestRedis;
  readonly #verify: typeof brokenIn;
  readonly #database: TestDatabase;
  readonly #proxies: TcpProxy[] = [];
  readonly #sessions: pg.Client[] = [];
  readonly #endings: (() => Promise<void>)[] = [];
  #turn = 0;
  #free: Replica[] = [];

  private constructor(database: TestDatabase, redis: TestRedis, { servers, verify = brokenIn }: Parts) {
    this.#database = database;
    this.databaseUrl = database.url;
    this.redis = redis;
    this.redisUrl = redis.url;
    this.servers = servers;
    this.#verify = verify;
  }

  /** Where the tests' servers are says the environment (libs/testing). */
  static async open(parts: Parts = {}): Promise<Scene> {
    const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
    return new Scene(database, redis, parts);
  }

  /** Another scenario begins: what lives may serve in it, over networks that are whole again. */
  begin(): void {
    for (const proxy of this.#proxies) proxy.restore();
    this.#free = this.replicas.filter(({ isAlive }) => isAlive);
  }

  /** A replica with these settings: one that is left from the scenario before, whatever its networks are, or a new one. */
  async start(settings: Record<string, string> = {}, where: Where = {}): Promise<Replica> {
    const left =
      Object.keys(where).length === 0 ? this.#free.find((one) => isDeepStrictEqual(one.settings, settings)) : undefined;
    this.#free = this.#free.filter((replica) => replica !== left);
    if (left) return left;
    const { databaseUrl = this.databaseUrl, redisUrl = this.redisUrl } = where;
    const replica = await Replica.start(settings, { ...SETTINGS, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl });
    this.replicas.push(replica);
    return replica;
  }

  /** A network to the database or to Redis that can be broken. */
  async proxyTo(url: string): Promise<TcpProxy> {
    const proxy = await TcpProxy.inFrontOf(url);
    this.#proxies.push(proxy);
    return proxy;
  }

  /** From now on the truth is in the same database of another server. */
  failOver(serverUrl: string): void {
    const url = new URL(serverUrl);
    url.pathname = new URL(this.databaseUrl).pathname;
    this.databaseUrl = url.href;
  }

  atTheEnd(work: () => Promise<void>): void {
    this.#endings.push(work);
  }

  /** The next of those that live; a fan whose replica is gone goes to another. */
  anyReplica(): Replica | undefined {
    const living = this.replicas.filter(({ isAlive }) => isAlive);
    this.#turn += 1;
    return living[this.#turn % living.length];
  }

  fan(replica: () => Replica | undefined = () => this.anyReplica()): Fan {
    return new Fan(this.history, replica);
  }

  /** A match whose sale is open, with so many sectors of so many seats in rows of twenty. */
  async onSale(rows: number, sectors = 1, facts: Record<string, unknown> = {}): Promise<Match> {
    const body = {
      ...{ home: 'Hrvatska', away: 'Italija', venue: 'Maksimir', currency: 'EUR' },
      ...{ max_tickets_per_fan: 20, queue_required: false },
      kickoff_at: new Date(Date.now() + 48 * HOUR_MS).toISOString(),
      opens_at: new Date(Date.now() - HOUR_MS).toISOString(),
      sectors: Array.from({ length: sectors }, (_, index) => ({
        ...{ name: `Sector ${index + 1}`, kind: 'seated', price_cents: 2500, rows, seats_per_row: 20 },
      })),
      ...facts,
    };
    const headers = {
      'content-type': 'application/json',
      'x-mock-user-id': '0190a000-0000-7000-8000-00000000000a',
      'x-mock-roles': 'ops',
      'idempotency-key': crypto.randomUUID().replaceAll('-', ''),
    };
    const answer = await fetch(`${this.anyReplica()?.url}/api/v1/ops/matches`, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    if (answer.status !== 201) throw new Error(`no match: ${await answer.text()}`);
    return (await answer.json()) as Match;
  }

  /** A session beside the service, past every proxy: for holding locks. */
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

  /** What the product's own `verify` finds. */
  verify(): Promise<string[]> {
    return this.#verify(this);
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await Promise.all(this.#sessions.map((session) => session.end().catch(() => undefined)));
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
    await Promise.all(this.#endings.map((work) => work()));
    await this.#database.drop();
    await this.redis.close().catch(() => undefined);
  }
}
