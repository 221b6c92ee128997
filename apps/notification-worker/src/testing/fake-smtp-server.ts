import net from 'node:net';
import type { ArrivedFile, ArrivedMail } from './fake-mailgun.ts';

/**
 * How the fake server fails in one SMTP session. `accept without answer`: the message is accepted, but the answer 250 never
 * comes.
 */
export type SmtpFault =
  | { readonly at: 'GREETING' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | 'MESSAGE'; readonly reply: string }
  | 'accept without answer'
  | 'disconnect at greeting';

/** A fake SMTP server with the part of RFC 5321 that our client needs. It stores the accepted mails. */
export class FakeSmtpServer {
  readonly arrived: ArrivedMail[] = [];
  /** The faults of the next SMTP sessions, one fault for each session. */
  readonly next: SmtpFault[] = [];
  private readonly sockets = new Set<net.Socket>();
  private readonly server = net.createServer((socket) => this.session(socket));

  static async start(): Promise<FakeSmtpServer> {
    const fake = new FakeSmtpServer();
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `smtp://user:p%40ss@127.0.0.1:${(this.server.address() as net.AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private session(socket: net.Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    if (this.next[0] === 'disconnect at greeting') {
      this.next.shift();
      return void socket.destroy();
    }
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    const envelope = { from: '', to: '' };
    let inMessage = false;
    let buffered = '';
    say(this.faultAt('GREETING') ?? '220 peer ESMTP');
    socket.on('data', (bytes) => {
      buffered += bytes.toString('utf8');
      for (;;) {
        const end = inMessage ? buffered.indexOf('\r\n.\r\n') : buffered.indexOf('\r\n');
        if (end < 0) return;
        const part = buffered.slice(0, end);
        buffered = buffered.slice(end + (inMessage ? 5 : 2));
        if (inMessage) {
          inMessage = false;
          // RFC 5321 §4.5.2: the client adds a dot to each line that begins with one.
          this.message(part.replace(/^\./gm, ''), envelope, say);
        } else inMessage = this.command(part, envelope, say, socket);
      }
    });
  }

  private command(
    line: string,
    envelope: { from: string; to: string },
    say: (line: string) => void,
    socket: net.Socket,
  ): boolean {
    const verb = line.split(/[ :]/)[0]?.toUpperCase() ?? '';
    const refusal = this.faultAt(verb);
    if (refusal !== undefined) {
      say(refusal);
      return false;
    }
    const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (verb === 'EHLO') socket.write('250-peer\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN\r\n');
    else if (verb === 'AUTH') say(line === `AUTH PLAIN ${Buffer.from('\0user\0p@ss').toString('base64')}` ? '235 ok' : '535 no');
    else if (verb === 'MAIL') say(((envelope.from = address), '250 ok'));
    else if (verb === 'RCPT') say(((envelope.to = address), '250 ok'));
    else if (verb === 'DATA') say('354 go on');
    else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else say('250 ok');
    return verb === 'DATA';
  }

  /** The planned reply at this step. Undefined if none is planned. */
  private faultAt(step: string): string | undefined {
    const [fault] = this.next;
    if (typeof fault !== 'object' || fault.at !== step) return undefined;
    this.next.shift();
    return fault.reply;
  }

  private message(source: string, envelope: { from: string; to: string }, say: (line: string) => void): void {
    const refusal = this.faultAt('MESSAGE');
    if (refusal !== undefined) return say(refusal);
    const [fault] = this.next;
    const header = (name: string): string => new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(source)?.[1] ?? '';
    const parts = partsOf(source);
    this.arrived.push({
      at: performance.now(),
      to: envelope.to,
      from: header('From'),
      subject: decodeWords(header('Subject')),
      text: textOf(parts, 'text/plain'),
      html: textOf(parts, 'text/html'),
      messageId: header('Message-ID'),
      attachments: filesOf(parts),
    });
    if (fault === 'accept without answer') return void this.next.shift();
    say('250 queued');
  }
}

/** Decodes the encoded words of RFC 2047: `=?UTF-8?Q?…?=` and `=?UTF-8?B?…?=`. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : decodeQuotedPrintable(word.replaceAll('_', ' ')),
    );
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** One part of a multipart mail. */
interface MailPart {
  readonly headers: string;
  readonly body: Buffer;
}

/** Splits a mail into its parts; parts of nested multiparts are included. */
function partsOf(source: string): MailPart[] {
  const at = source.indexOf('\r\n\r\n');
  const headers = source.slice(0, at);
  const boundary = /^Content-Type: multipart\/[^]*?boundary="([^"]+)"/im.exec(headers)?.[1];
  if (boundary !== undefined) {
    const pieces = source.slice(at).split(`\r\n--${boundary}`);
    return pieces.slice(1, -1).flatMap((piece) => partsOf(piece.replace(/^\r\n/, '')));
  }
  const body = source.slice(at + 4);
  const encoding = /^Content-Transfer-Encoding: (\S+)/im.exec(headers)?.[1]?.toLowerCase();
  if (encoding === 'base64') return [{ headers, body: Buffer.from(body, 'base64') }];
  return [{ headers, body: Buffer.from(encoding === 'quoted-printable' ? decodeQuotedPrintable(body) : body) }];
}

function textOf(parts: readonly MailPart[], type: string): string {
  const found = parts.find(({ headers }) => headers.includes(`Content-Type: ${type}`));
  return found?.body.toString('utf8').replaceAll('\r\n', '\n') ?? '';
}

/** The attached files, then the inline images. An image without its name as Content-ID is no inline image: the HTML cannot show it. */
function filesOf(parts: readonly MailPart[]): ArrivedFile[] {
  const files = parts.flatMap(({ headers, body }): ArrivedFile[] => {
    const [, disposition, name] = /^Content-Disposition: (attachment|inline);\s+filename="?([^"\r\n]+)"?/im.exec(headers) ?? [];
    const contentType = /^Content-Type: ([^;\s]+)/im.exec(headers)?.[1] ?? '';
    if (name === undefined) return [];
    const isInline = disposition === 'inline' && headers.toLowerCase().includes(`content-id: <${name.toLowerCase()}>`);
    return [{ name, contentType, content: body, ...(isInline ? { inline: true } : {}) }];
  });
  return [...files.filter(({ inline }) => !inline), ...files.filter(({ inline }) => inline)];
}
