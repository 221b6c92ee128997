import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The record of one source: the requests it got, and the events it sent. */
export interface SourceLedger {
  /** Arrival times of the requests, in ms of `performance.now()`. */
  readonly arrivals: number[];
  /** The `after_id` of each request. */
  readonly askedAfter: number[];
  /** The number of events that were sent, including repeated ones. */
  sent: number;
  /** The number of events that were sent although they had been sent before. */
  sentAgain: number;
  /** The greatest id that was sent. A later answer with ids up to it counts as sent again. */
  sentUpTo: number;
}

/** A function that may answer a request with a fault instead of events. Returns false if the source should answer normally. */
export type Misbehaviour = (request: IncomingMessage, response: ServerResponse, name: string) => boolean;

/** What the sources send, and with which faults. */
export interface EventSourcesOptions {
  /** The number of events of a source; their ids start at 1. */
  readonly sizeOf: (name: string) => number;
  readonly misbehave?: Misbehaviour;
}

/**
 * HTTP event sources for tests and benchmarks of the event loader, any number on one port: `/{name}?after_id&limit`. Each source
 * keeps a ledger (a record of its requests and sent events), with which tests check what was fetched twice, and when. This file
 * uses no TypeScript parameter properties, because Node runs it without a compiler.
 */
export class EventSources {
  readonly ledgers = new Map<string, SourceLedger>();
  readonly #server: Server;
  readonly #options: EventSourcesOptions;

  private constructor(options: EventSourcesOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#answer(request, response));
    // Longer than any pause of the event loader, so that its connections stay open between two requests.
    this.#server.keepAliveTimeout = 60_000;
  }

  static async open(options: EventSourcesOptions): Promise<EventSources> {
    const sources = new EventSources(options);
    await new Promise<void>((resolve) => sources.#server.listen(0, '127.0.0.1', resolve));
    return sources;
  }

  urlOf(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }

  ledgerOf(name: string): SourceLedger {
    const known = this.ledgers.get(name);
    if (known) return known;
    const fresh = { arrivals: [], askedAfter: [], sent: 0, sentAgain: 0, sentUpTo: 0 };
    this.ledgers.set(name, fresh);
    return fresh;
  }

  /** The shortest time between two requests to the same source; Infinity if no source got two requests. */
  minGapMs(): number {
    const gaps = [...this.ledgers.values()].flatMap(({ arrivals }) =>
      arrivals.slice(1).map((at, index) => at - arrivals[index]!),
    );
    return gaps.reduce((least, gap) => Math.min(least, gap), Number.POSITIVE_INFINITY);
  }

  total(member: 'sent' | 'sentAgain'): number {
    return [...this.ledgers.values()].reduce((sum, ledger) => sum + ledger[member], 0);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const arrivedAt = performance.now();
    const url = new URL(request.url ?? '/', 'http://source');
    const name = url.pathname.slice(1);
    const after = Number(url.searchParams.get('after_id') ?? 0);
    const ledger = this.ledgerOf(name);
    ledger.arrivals.push(arrivedAt);
    ledger.askedAfter.push(after);
    if (this.#options.misbehave?.(request, response, name)) return;
    const last = Math.min(after + Number(url.searchParams.get('limit') ?? 1000), this.#options.sizeOf(name));
    const events: string[] = [];
    for (let id = after + 1; id <= last; id += 1) events.push(eventText(name, id));
    ledger.sent += events.length;
    ledger.sentAgain += Math.max(0, Math.min(last, ledger.sentUpTo) - after);
    ledger.sentUpTo = Math.max(ledger.sentUpTo, last);
    response.setHeader('content-type', 'application/json');
    response.end(`{"events":[${events.join(',')}]}`);
  }
}

/** One event of about 120 bytes, like a log line of a ticket scanner. */
function eventText(name: string, id: number): string {
  return `{"id":${id},"payload":{"type":"gate.scan","gate":"${name}","ticket":"t-${id}","at":"2026-11-18T19:45:00.${id % 1000}Z","seq":${id}}}`;
}
