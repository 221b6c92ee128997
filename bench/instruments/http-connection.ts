import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  /** Read when it is asked for: most are not. */
  body(): string;
}

const END_OF_HEADERS = '\r\n\r\n';
const LENGTH = '\r\ncontent-length: ';

/** For all connections: what arrives is read at once. */
const arriving = Buffer.allocUnsafe(64 * 1024);

/**
 * One keep-alive connection with one request on its way: as much of HTTP/1.1 as a load generator needs to talk to our own
 * services (they say content-length, in this spelling), at a quarter of what node:http costs, as it shares the machine with
 * what it measures.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: string;
  /** One character a byte. */
  #received = '';
  #waiting: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;

  private constructor({ hostname, port, host }: URL) {
    this.#host = host;
    this.#socket = connect({
      ...{ host: hostname, port: Number(port), noDelay: true },
      onread: { buffer: arriving, callback: (count) => this.#read(arriving.toString('latin1', 0, count)) },
    });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the service closed the connection')));
  }

  static async open(url: string): Promise<HttpConnection> {
    const connection = new HttpConnection(new URL(url));
    await new Promise<void>((resolve, reject) => connection.#socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  /** Path, headers and body in ASCII. */
  post(path: string, headers: string, body: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(
        `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        'latin1',
      );
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: string): boolean {
    this.#received = this.#received === '' ? bytes : this.#received + bytes;
    const received = this.#received;
    const end = received.indexOf(END_OF_HEADERS);
    if (end < 0) return true;
    const at = received.indexOf(LENGTH);
    const length = Number(received.slice(at + LENGTH.length, received.indexOf('\r', at + LENGTH.length)));
    const from = end + END_OF_HEADERS.length;
    if (at < 0 || at > end || Number.isNaN(length))
      this.#fail(new Error(`an answer without a length: ${received.slice(0, end)}`));
    else if (received.length >= from + length) {
      this.#received = '';
      const waiting = this.#waiting;
      this.#waiting = undefined;
      const body = (): string => Buffer.from(received.slice(from, from + length), 'latin1').toString();
      waiting?.resolve({ status: Number(received.slice(9, 12)), body });
    }
    return true;
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
    this.#socket.destroy();
  }
}
