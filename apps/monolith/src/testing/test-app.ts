import { Clock } from '#application/clock';
import { Ids } from '#application/ids';
import { Jobs } from '#application/jobs';
import { Outbox } from '#application/outbox';
import { TransactionManager } from '#application/transaction-manager';
import { loadConfig } from '#platform/config/load-config';
import { createHttpApp } from '#platform/http/http-app';
import { identifyMock } from '#platform/http/identity';
import { AnswerSeal } from '#platform/idempotency/answer-seal';
import { Answers } from '#platform/idempotency/answers';
import { IdempotencyCache } from '#platform/idempotency/idempotency-cache';
import { guardIdempotency } from '#platform/idempotency/idempotency-hook';
import { IdempotencyRows } from '#platform/idempotency/idempotency-rows';
import { newId } from '#platform/ids';
import { PostgresJobs } from '#messaging/jobs/job-ledger';
import { createLogger } from '#platform/logging/logger';
import type { Destination } from '#messaging/outbox/destination';
import { OutboxRelay } from '#messaging/outbox/outbox-relay';
import { PostgresOutbox } from '#messaging/outbox/postgres-outbox';
import { openDatabase } from '#platform/postgres/database';
import { ReplicaReads } from '#platform/postgres/replica-reads';
import { PostgresTransactionManager } from '#platform/postgres/transaction-manager';
import { closeRedis, connectRedis, whenReady } from '#platform/redis/redis-connection';
import { SchedulingModule } from '#platform/schedule/scheduling.module';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { monolithConfig, type MonolithConfig } from '../config.ts';
import { CONFIG, LOGGER } from '../tokens.ts';

interface Call {
  readonly as?: string;
  /** The idempotency key. Undefined: a new one if the call needs it. Null: none. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** The HTTP answer to a test's call; `json` is the parsed body. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Record<string, string | undefined>;
  readonly text: string;
  // `any`, because tests read only fields that they assert on, so a type would add nothing.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: any;
}

/** Calls the app like an HTTP client, as a fan or without a caller. */
export type Caller = (method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE', url: string, call?: Call) => Promise<TestAnswer>;

/** Some contexts of the monolith, behind the same HTTP hooks as in production, with the test's own database. */
export interface TestApp {
  readonly app: NestFastifyApplication;
  readonly dataSource: DataSource;
  readonly transactions: TransactionManager;
  readonly config: MonolithConfig;
  readonly call: Caller;
  relayTo(destination: Destination): OutboxRelay;
  close(): Promise<void>;
}

@Module({})
class TestPlatform {}

const logger = createLogger({ service: 'test', level: 'silent' });

/** A new idempotency key. */
export function newKey(): string {
  return randomUUID().replaceAll('-', '');
}

/** Returns a function that calls the app like an HTTP client, but without a socket. */
export function callerOf(app: NestFastifyApplication): Caller {
  return async (method, url, { as, key, body, headers } = {}) => {
    const needsKey = method !== 'GET' && method !== 'DELETE';
    const answer = await app.inject({
      method,
      url,
      headers: {
        ...(as ? { 'x-mock-user-id': as } : {}),
        ...(needsKey && key !== null ? { 'idempotency-key': key ?? newKey() } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    const isJson = String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers as TestAnswer['headers'],
      text: answer.body,
      json: isJson ? (JSON.parse(answer.body) as unknown) : undefined,
    };
  };
}

/** Opens some modules of the monolith with a database and Redis, but without rate limits and background work. */
export async function openTestApp(
  modules: readonly Type[],
  settings: { DATABASE_URL: string; REDIS_URL: string } & Record<string, string>,
): Promise<TestApp> {
  const config = loadConfig(monolithConfig, settings);
  const dataSource = await openDatabase({ url: config.DATABASE_URL, name: 'test', poolSize: 8 });
  const redis = connectRedis(config.REDIS_URL, { name: 'test' });
  await whenReady(redis);
  const transactions = new PostgresTransactionManager(dataSource, { deadlineMs: 20_000 });
  const rows = new IdempotencyRows(dataSource);
  const seal = new AnswerSeal(config.INTERNAL_AUTH_SECRET);
  const replicaReads = new ReplicaReads({ primary: dataSource, url: undefined, name: 'test', logger, registry: new Registry() });
  const providers = [
    { provide: DataSource, useValue: dataSource },
    { provide: ReplicaReads, useValue: replicaReads },
    { provide: TransactionManager, useValue: transactions },
    { provide: Outbox, useValue: new PostgresOutbox() },
    { provide: Ids, useValue: { next: () => newId() } },
    { provide: Jobs, useValue: new PostgresJobs(new PostgresOutbox(), { next: () => newId() }) },
    { provide: Clock, useValue: { now: () => new Date() } },
    { provide: Answers, useValue: new Answers(rows, seal) },
    { provide: CONFIG, useValue: config },
    { provide: LOGGER, useValue: logger },
  ];
  const platform: DynamicModule = {
    module: TestPlatform,
    global: true,
    providers,
    exports: providers.map(({ provide }) => provide),
  };
  const root: DynamicModule = {
    module: class TestRoot {},
    imports: [platform, SchedulingModule.register(logger, { isEnabled: false }), ...modules],
  };
  const app = await createHttpApp(root, {
    logger,
    identify: identifyMock,
    internalSecrets: config.INTERNAL_AUTH_SECRET,
    trustedProxies: [],
    isAllowedOrigin: () => false,
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
    logReadsEvery: config.LOG_READS_EVERY,
    afterAccess: (fastify) => guardIdempotency(fastify, { cache: new IdempotencyCache(redis), rows, seal, logger }),
  });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();

  return {
    app,
    dataSource,
    transactions,
    config,
    call: callerOf(app),
    relayTo: (destination) => new OutboxRelay(dataSource, destination, logger),
    async close() {
      await app.close();
      await closeRedis(redis);
      await dataSource.destroy();
    },
  };
}
