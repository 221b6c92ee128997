/** Where something began: the HTTP request, and its position in a trace. It travels with orders, outbox messages and jobs. */
export interface Origin {
  /** The id of the request, as its answer has it in `X-Request-Id`. For work without a request: the id of the job. */
  readonly requestId: string;
  /** A W3C traceparent. Absent for requests that are not traced. */
  readonly traceparent?: string | undefined;
}
