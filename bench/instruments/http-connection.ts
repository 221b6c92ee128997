import { connect, type Socket } from 'node:net';

/** The answer to one request of an HttpConnection. */
export interface HttpAnswer {
  readonly status: number;
  /** Decodes the body on demand, because most bodies are not needed. */
  body(): string;
}

const END_OF_HEADERS = '\r\n\r\n';
const LENGTH_HEADER = '\r\ncontent-length: ';

/** One read buffer that all connections share: its content is decoded to text before the next read. */
const readBuffer = Buffer.allocUnsafe(64 * 1024);

/**
 * One keep-alive connection with one request at a time. It supports only the part of HTTP/1.1 that our services use (they always send
 * `content-length`, in this spelling). It needs a quarter of the processor time of node:http, which matters because the load generator
 * shares the machine with the measured service.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: string;
  /** Received bytes as latin1 text: one character for each byte. */
  #received = '';
  #pending: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;

  private constructor({ hostname, port, host }: URL) {
    this.#host = host;
    this.#socket = connect({
      ...{ host: hostname, port: Number(port), noDelay: true },
      onread: { buffer: readBuffer, callback: (count) => this.#read(readBuffer.toString('latin1', 0, count)) },
    });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the service closed the connection')));
  }

  static async open(url: string): Promise<HttpConnection> {
    const connection = new HttpConnection(new URL(url));
    await new Promise<void>((resolve, reject) => connection.#socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  /** Sends a POST. Path, headers and body must be ASCII. */
  post(path: string, headers: string, body: string): Promise<HttpAnswer> {
    return this.#send(
      `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  }

  /** Sends a GET. Path and headers must be ASCII. */
  get(path: string, headers: string): Promise<HttpAnswer> {
    return this.#send(`GET ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${headers}\r\n`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(request: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  #read(bytes: string): boolean {
    this.#received = this.#received === '' ? bytes : this.#received + bytes;
    const received = this.#received;
    const end = received.indexOf(END_OF_HEADERS);
    if (end < 0) return true;
    const at = received.indexOf(LENGTH_HEADER);
    const length = Number(received.slice(at + LENGTH_HEADER.length, received.indexOf('\r', at + LENGTH_HEADER.length)));
    const from = end + END_OF_HEADERS.length;
    if (at < 0 || at > end || Number.isNaN(length))
      this.#fail(new Error(`an answer without a length: ${received.slice(0, end)}`));
    else if (received.length >= from + length) {
      this.#received = '';
      const pending = this.#pending;
      this.#pending = undefined;
      const body = (): string => Buffer.from(received.slice(from, from + length), 'latin1').toString();
      pending?.resolve({ status: Number(received.slice(9, 12)), body });
    }
    return true;
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
    this.#socket.destroy();
  }
}
