import type { ShopKind } from './shop.ts';
import type { StadiumName } from './stadiums.ts';

/** One row of the report: which way to buy is measured, with how many buyers, on which matches. */
export interface Scenario {
  readonly name: string;
  /** Description of the scenario for the report. */
  readonly does: string;
  readonly kind: ShopKind;
  readonly stadium: StadiumName;
  readonly processes: number;
  /** Number of callers in each process. */
  readonly callers: number;
  /** Number of matches that are used. Default: all. Slow scenarios need fewer. */
  readonly matches?: number;
  /** Number of matches for warming up before the measurement. Default: one. */
  readonly warmUpMatches?: number;
  /** The sale opens when the run begins, and no purchase was made in the process before (opening.ts). */
  readonly atOpening?: boolean;
}

const inProcess = { kind: 'use case', stadium: 'fresh', processes: 1 } as const;
const overHttp = { stadium: 'fresh', processes: 1 } as const;

/** The scenarios of the purchase benchmark, in the order of the report. */
export const scenarios: readonly Scenario[] = [
  {
    ...inProcess,
    name: 'in-process-64',
    does: '64 callers of the use case in its own process, each with an idempotency key',
    callers: 64,
  },
  { ...inProcess, name: 'in-process-512', does: 'the same with 512 callers', callers: 512 },
  {
    ...overHttp,
    name: 'http-256',
    does: 'POST …/reservations with identity, validation and idempotency key on 256 connections to one process',
    kind: 'holds over HTTP',
    callers: 256,
    warmUpMatches: 3,
  },
  {
    ...inProcess,
    name: 'two-processes',
    does: 'two processes with 256 callers each sell the same match',
    processes: 2,
    callers: 256,
  },
  {
    ...overHttp,
    name: 'whole-purchases',
    does: '64 buyers: hold, checkout, sandbox payment, webhook, until order and tickets are committed',
    kind: 'purchases over HTTP',
    callers: 64,
    matches: 3,
  },
  {
    ...overHttp,
    name: 'first-second',
    does: '128 buyers make whole purchases from the moment the sale opens, in a process that has served nothing before; 10 s',
    kind: 'purchases over HTTP',
    callers: 128,
    matches: 1,
    atOpening: true,
  },
  {
    name: 'textbook',
    does: 'the same reservation as a TypeORM transaction per request, SERIALIZABLE, SKIP LOCKED, retried (pool 16, 64 callers)',
    kind: 'textbook',
    stadium: 'fresh',
    processes: 1,
    callers: 64,
    matches: 3,
  },
  {
    ...inProcess,
    name: 'doubled-seats',
    does: '64 callers in process, matches of 80,000 seats',
    stadium: 'doubled',
    callers: 64,
  },
  {
    ...inProcess,
    name: 'nearly-sold',
    does: '64 callers in process, matches 80 % sold before',
    stadium: 'nearly sold',
    callers: 64,
  },
];
