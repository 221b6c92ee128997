import { createTransport, type Transporter } from 'nodemailer';
import { CALL_TIMEOUT_MS } from '#messaging/sending/call-timeout';
import { Refused } from '#messaging/sending/send-errors';
import { MailProvider, type OutgoingMail } from '../application/ports.ts';
import { mimeMessage } from './mime-message.ts';
import { smtpFailure, type SmtpError } from './smtp-failure.ts';

/**
 * At most this many connections to the mail server. They are kept open and reused, because a handshake for each mail would take
 * longer than the mail.
 */
const MAX_CONNECTIONS = 5;
/** Matches exactly one mail address, without characters that could add a recipient or a header. */
const ADDRESS = /^[^\s<>,;:"()[\]\\]+@[^\s<>,;:"()[\]\\]+$/;

/** EMAIL_PROVIDER=smtp: sends through the mail server of SMTP_URL. */
export class SmtpServer extends MailProvider {
  private readonly transport: Transporter;
  private readonly secrets: readonly string[];

  constructor(private readonly options: { readonly url: string; readonly from: string; readonly timeoutMs?: number }) {
    super();
    const url = new URL(options.url);
    const timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    this.secrets = secretsOf(user, pass);
    this.transport = createTransport({
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      // By default nodemailer's connection pool sends a mail again, up to five times, when its connection breaks.
      maxRequeues: 0,
      host: url.hostname,
      port: url.port ? Number(url.port) : url.protocol === 'smtps:' ? 465 : 587,
      secure: url.protocol === 'smtps:',
      ...(user ? { auth: { user, pass } } : {}),
      connectionTimeout: timeoutMs,
      // Shorter than the timeout of the socket, which also runs while the greeting is awaited: the first one to end decides whether the
      // mail was certainly not sent.
      greetingTimeout: timeoutMs * 0.8,
      socketTimeout: timeoutMs,
      // Paths and URLs in a mail's content are never read or fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send(mail: OutgoingMail): Promise<void> {
    if (!ADDRESS.test(mail.to)) throw new Refused('smtp: not a single valid address');
    try {
      await this.transport.sendMail(mimeMessage(mail, this.options.from));
    } catch (error) {
      throw smtpFailure(error as SmtpError, { recipient: mail.to, secrets: this.secrets });
    }
  }

  override close(): void {
    this.transport.close();
  }
}

/** The password as it is, and as it is sent, the longest first: a server may repeat our command in its reply. */
function secretsOf(user: string, password: string): string[] {
  if (password === '') return [];
  const encoded = [`\0${user}\0${password}`, password].map((text) => Buffer.from(text).toString('base64'));
  return [...encoded, password];
}
