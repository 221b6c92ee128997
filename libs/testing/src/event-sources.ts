import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a source was asked, and what it answered. */
export interface SourceLedger {
  /** When requests arrived, in ms of `performance.now()`. */
  readonly arrivals: number[];
  readonly askedAfter: number[];
  /** How many events it sent. */
  sent: number;
  /** How often an event was sent that had been sent before. */
  sentAgain: number;
  /** Up to here everything has been sent once. */
  sentUpTo: number;
}

/** Takes over an answer; false leaves it to the source. */
export type Misbehaviour = (request: IncomingMessage, response: ServerResponse, name: string) => boolean;

export interface EventSourcesOptions {
  /** How many events a source has, by its name; ids from 1 on. */
  readonly sizeOf: (name: string) => number;
  readonly misbehave?: Misbehaviour;
}

/**
 * HTTP sources as the contract has them, any number on one port: `/{name}?after_id&limit`. Each keeps its own ledger, which is
 * the truth about what was transported, how often, and when. Written without parameter properties: Node runs it as it is.
 */
export class EventSources {
  readonly ledgers = new Map<string, SourceLedger>();
  readonly #server: Server;
  readonly #options: EventSourcesOptions;

  private constructor(options: EventSourcesOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#answer(request, response));
    // The loaders keep their connections; a source that closes them between two requests is another test.
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

  /** The shortest time between two requests to the same source; Infinity when none was asked twice. */
  leastGapMs(): number {
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

/** About 120 bytes, as a scanner's log line has. */
function eventText(name: string, id: number): string {
  return `{"id":${id},"payload":{"type":"gate.scan","gate":"${name}","ticket":"t-${id}","at":"2026-11-18T19:45:00.${id % 1000}Z","seq":${id}}}`;
}
