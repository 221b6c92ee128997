import monolith from './examples/monolith.json' with { type: 'json' };
import queueService from './examples/queue-service.json' with { type: 'json' };
import type { ErrorCode } from './error-catalogue.ts';

/** Examples of one operation. */
export interface OperationExamples {
  /** Request bodies, by the names of their fields. */
  readonly requests?: Readonly<Record<string, unknown>>;
  /** One answer for each status of a success. */
  readonly answers: Readonly<Record<string, unknown>>;
}

/** Examples of one service. */
export interface ServiceExamples {
  /** By operation id. */
  readonly operations: Readonly<Record<string, OperationExamples>>;
  readonly problems: Readonly<Partial<Record<ErrorCode, object>>>;
}

/**
 * Examples for the API descriptions: real answers of running services, with invented ids, times and secrets. `npm run docs`
 * records them (tests/reference/live).
 */
export const recordedExamples = { monolith, queueService } as const satisfies Readonly<Record<string, ServiceExamples>>;
