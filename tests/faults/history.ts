import { errorCatalogue } from '#contracts/error-catalogue';

/** The answer to one request. `status` is 0 if no answer came. */
export interface Answer {
  /** The HTTP status; 0 if the connection broke or the request timed out. */
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly replayed: boolean;
  readonly sentAt: number;
  readonly ms: number;
}

/** One request with its idempotency key, and all answers to it. */
export interface Request {
  readonly name: string;
  readonly userId: string;
  readonly roles: string | undefined;
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
  readonly answers: Answer[];
}

/** All requests of the fans and the answers that they received. A request with a successful answer counts as acknowledged. */
export class History {
  readonly requests: Request[] = [];
  /** Answers to requests without an idempotency key: reads and payments. */
  readonly unkeyedAnswers: Answer[] = [];
  /** Ids of orders that an answer has called complete. */
  readonly completed = new Set<string>();

  all(): Answer[] {
    return [...this.requests.flatMap(({ answers }) => answers), ...this.unkeyedAnswers];
  }

  acknowledged(name?: string): Request[] {
    return this.requests.filter((request) => (!name || request.name === name) && successOf(request));
  }

  /** Number of refusals by code, and of requests without an answer. */
  refusals(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { status, code } of this.all()) {
      if (status >= 200 && status < 300) continue;
      const refusal = status === 0 ? 'no answer' : `${status} ${code}`;
      counts[refusal] = (counts[refusal] ?? 0) + 1;
    }
    return counts;
  }

  /** The longest time without a successful answer between the times `from` and `to`, for requests whose body matches. */
  longestGapMs(from: number, to: number, matches: (body: unknown) => boolean = () => true): number {
    const successes = this.requests
      .filter(({ body }) => matches(body))
      .flatMap(({ answers }) => answers)
      .filter(({ status, replayed }) => status >= 200 && status < 300 && !replayed)
      .map(({ sentAt, ms }) => sentAt + ms)
      .filter((at) => at > from && at < to);
    const moments = [from, ...successes.sort((a, b) => a - b), to];
    return Math.round(Math.max(...moments.slice(1).map((moment, index) => moment - moments[index]!)));
  }

  latencyMs(share: number, isCounted: (answer: Answer) => boolean = ({ status }) => status >= 200 && status < 300): number {
    const sorted = this.requests.flatMap(({ answers }) => answers.filter(isCounted).map(({ ms }) => ms)).sort((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  }

  /**
   * Answers that are never allowed (invariants I5 and I13 of research/reliability.md): a 500, a code outside the catalogue, two different
   * answers to one idempotency key.
   */
  faults(): string[] {
    const faults = new Set<string>();
    for (const { status, code, text } of this.all()) {
      if (status === 500) faults.add(`a 500: ${text.slice(0, 300)}`);
      if (status < 400) continue;
      if (!(code in errorCatalogue)) faults.add(`a code that is not in the catalogue: ${status} ${text.slice(0, 200)}`);
      else if (errorCatalogue[code as keyof typeof errorCatalogue].status !== status) faults.add(`${code} came as ${status}`);
    }
    for (const { name, key, answers } of this.requests) {
      const texts = new Set(answers.filter(({ status }) => status >= 200 && status < 300).map(({ text }) => text));
      if (texts.size > 1)
        faults.add(`${name} ${key} was answered in ${texts.size} ways: ${[...texts].join(' | ').slice(0, 600)}`);
    }
    return [...faults];
  }
}

/** The first successful answer to a request. Undefined if there is none. */
export function successOf({ answers }: Request): Answer | undefined {
  return answers.find(({ status }) => status >= 200 && status < 300);
}
