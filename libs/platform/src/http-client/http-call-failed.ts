/** Why a call failed: one of our own codes, or the code of Node's error, such as ECONNREFUSED. */
type HttpFailureCode = 'timeout' | 'too_large' | 'compressed_too_much' | 'unknown_compression' | (string & {});

/** A call has no complete answer. The error contains neither Node's error nor the URL, because both may contain secrets. */
export class HttpCallFailed extends Error {
  constructor(
    readonly code: HttpFailureCode,
    /** False: the request was certainly not sent. True: the server may have received it and acted on it. */
    readonly mayHaveArrived: boolean,
    /** The status of the answer, if its headers arrived. */
    readonly status?: number,
  ) {
    super(mayHaveArrived ? `no complete answer (${code})` : `not sent (${code})`);
    this.name = 'HttpCallFailed';
  }
}
