import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The mails that a server accepted. */
export interface ArrivedMails {
  readonly templates: Readonly<Record<string, number>>;
  /** Number of mails with a Message-ID that an earlier mail had. */
  readonly repeated: number;
}

/** An SMTP server in a process of its own (smtp-sink.ts). */
export class MailServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(): Promise<MailServer> {
    const child = fork(path.join(import.meta.dirname, 'smtp-sink.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [url] = (await once(child, 'message')) as [string];
    return new MailServer(child, url);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The mails that arrived since the start or the latest call. */
  async takeArrived(): Promise<ArrivedMails> {
    this.#child.send('count');
    const [arrived] = (await once(this.#child, 'message')) as [ArrivedMails];
    return arrived;
  }

  stop(): void {
    this.#child.disconnect();
  }
}
