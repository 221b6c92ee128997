import { createTransport, type Transporter } from 'nodemailer';
import { CALL_TIMEOUT_MS } from '#messaging/sending/call-timeout';
import { NoAnswer, NotSent, ProviderDown, Refused } from '#messaging/sending/send-errors';
import { MailProvider, type OutgoingMail } from '../application/ports.ts';

/**
 * At most this many connections to the mail server. They are kept open and reused, because a handshake for each mail would take
 * longer than the mail.
 */
const MAX_CONNECTIONS = 5;
/**
 * Matches nodemailer's messages for timeouts before the SMTP session began. Later timeouts have the same error code, but another
 * message.
 */
const TIMEOUT_BEFORE_SESSION = /^(Connection timeout|Greeting never received)/;
/** Matches exactly one mail address, without characters that could add a recipient or a header. */
const ADDRESS = /^[^\s<>,;:"()[\]\\]+@[^\s<>,;:"()[\]\\]+$/;

interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly syscall?: string;
  readonly responseCode?: number;
}

/** EMAIL_PROVIDER=smtp: sends through the mail server of SMTP_URL. */
export class SmtpServer extends MailProvider {
  private readonly transport: Transporter;
  private readonly host: string;

  constructor(private readonly options: { readonly url: string; readonly from: string; readonly timeoutMs?: number }) {
    super();
    const url = new URL(options.url);
    const timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;
    this.host = url.hostname;
    this.transport = createTransport({
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      // By default nodemailer's connection pool sends a mail again, up to five times, when its connection breaks.
      maxRequeues: 0,
      host: url.hostname,
      port: url.port ? Number(url.port) : url.protocol === 'smtps:' ? 465 : 587,
      secure: url.protocol === 'smtps:',
      ...(url.username ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } } : {}),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // Paths and URLs in a mail's content are never read or fetched.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send(mail: OutgoingMail): Promise<void> {
    if (!ADDRESS.test(mail.to)) throw new Refused('smtp: not a single valid address');
    const attachments = mail.attachments?.().map(({ name: filename, ...file }) => ({ filename, ...file }));
    try {
      await this.transport.sendMail({
        from: this.options.from,
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        attachments,
        messageId: `<${mail.messageId}@${this.host}>`,
        headers: { 'X-Template': mail.template, 'Auto-Submitted': 'auto-generated' },
      });
    } catch (error) {
      throw toSendFailure(error as SmtpError);
    }
  }

  override close(): void {
    this.transport.close();
  }
}

/**
 * Turns nodemailer's error into a SendFailure. It contains codes only, because a server's error texts may contain the recipient's
 * address.
 */
function toSendFailure({ code, command, responseCode, syscall, message }: SmtpError): Error {
  const reason = `smtp ${command ?? 'CONN'}: ${responseCode ?? code ?? 'no answer'}`;
  if (code === 'EAUTH' || responseCode === 530 || responseCode === 535) return new NotSent(reason);
  if (responseCode === 421) return new ProviderDown(reason);
  if (responseCode !== undefined) return responseCode >= 500 ? new Refused(reason) : new NotSent(reason);
  if (code === 'EENVELOPE') return new Refused(reason);
  const hasNoSession = syscall === 'connect' || code === 'EDNS' || code === 'ETLS' || TIMEOUT_BEFORE_SESSION.test(message);
  return hasNoSession ? new ProviderDown(reason) : new NoAnswer(reason);
}
