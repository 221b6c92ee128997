import { FakeHttpServer, type FakeAnswer } from './fake-http-server.ts';

/** A mail that a fake server accepted. */
export interface ArrivedMail {
  readonly at: number;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly attachments: readonly ArrivedFile[];
}

/** An attached file of an accepted mail. */
export interface ArrivedFile {
  readonly name: string;
  readonly contentType: string;
  readonly content: Buffer;
  /** True for an image with its name as Content-ID, which the HTML shows. */
  readonly inline?: true;
}

/** A fake server of Mailgun's messages endpoint, as its documentation describes it. It stores the accepted mails. */
export class FakeMailgun {
  readonly arrived: ArrivedMail[] = [];
  /**
   * The answers to the next requests, one answer for each request. `accept without answer`: the mail is accepted, but the answer
   * never comes.
   */
  readonly next: (FakeAnswer | 'accept without answer')[] = [];
  /** The answer to requests for which `next` has none. While it is undefined, their mails are accepted. */
  always: FakeAnswer | undefined;
  readonly settings: { readonly base: string; readonly domain: string; readonly apiKey: string; readonly from: string };

  private constructor(private readonly peer: FakeHttpServer) {
    this.settings = { base: peer.url, domain: 'mail.example.org', apiKey: 'key-peer', from: 'HNS tickets <tickets@hns.hr>' };
  }

  static async start(): Promise<FakeMailgun> {
    const holder: { peer?: FakeMailgun } = {};
    const http = await FakeHttpServer.start(async ({ path, headers, bytes, at }) => {
      const self = holder.peer as FakeMailgun;
      const planned = self.next.shift() ?? self.always;
      if (planned && planned !== 'accept without answer') return planned;
      if (headers.authorization !== `Basic ${Buffer.from('api:key-peer').toString('base64')}`) return { status: 401 };
      if (path !== '/v3/mail.example.org/messages') return { status: 404 };
      const form = await parseForm(bytes, headers['content-type'] ?? '');
      const missing = ['from', 'to', 'subject', 'text'].filter((field) => !form.get(field));
      if (missing.length > 0) return { status: 400, body: { message: `${missing[0]} parameter is missing` } };
      const field = (name: string): string => {
        const value = form.get(name);
        // A multipart form changes every line break to CRLF.
        return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '';
      };
      if (!/^[^@\s]+@[^@\s]+\.[a-z]+$/.test(field('to'))) {
        return { status: 400, body: { message: `'to' parameter is not a valid address: ${field('to')}` } };
      }
      self.arrived.push({
        at,
        to: field('to'),
        from: field('from'),
        subject: field('subject'),
        text: field('text'),
        html: field('html'),
        messageId: field('h:Message-Id'),
        attachments: await filesIn(form),
      });
      if (planned) return 'no answer';
      return { status: 200, body: { id: field('h:Message-Id'), message: 'Queued. Thank you.' } };
    });
    holder.peer = new FakeMailgun(http);
    return holder.peer;
  }

  get requests(): number {
    return this.peer.requests.length;
  }

  get times(): number[] {
    return this.peer.requests.map(({ at }) => at);
  }

  close(): Promise<void> {
    return this.peer.close();
  }
}

/** Parses both form encodings: urlencoded and multipart. */
function parseForm(bytes: Buffer, contentType: string): Promise<FormData> {
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
}

function filesIn(form: FormData): Promise<ArrivedFile[]> {
  const filesOf = (field: string) => form.getAll(field).filter((value) => typeof value !== 'string');
  const read = async (file: File): Promise<ArrivedFile> => ({
    name: file.name,
    contentType: file.type,
    content: Buffer.from(await file.arrayBuffer()),
  });
  return Promise.all([
    ...filesOf('attachment').map(read),
    ...filesOf('inline').map(async (file) => ({ ...(await read(file)), inline: true as const })),
  ]);
}
