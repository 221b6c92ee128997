import { createTransport, type Transporter } from 'nodemailer';
import { CALL_TIMEOUT_MS } from '#platform/sending/call-timeout';
import { NoAnswer, NotSent, ProviderDown, Refused } from '#platform/sending/send-errors';
import { MailProvider, type OutgoingMail } from '../application/ports.ts';

/** Kept open and used again: a handshake a mail would take longer than the mail. */
const CONNECTIONS = 5;
/** What nodemailer says when there was no conversation yet; a silence later has the same code and another sentence. */
const BEFORE_THE_CONVERSATION = /^(Connection timeout|Greeting never received)/;
/** Nothing that could become a second recipient or a header of its own. */
const ADDRESS = /^[^\s<>,;:"()[\]\\]+@[^\s<>,;:"()[\]\\]+$/;

interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly syscall?: string;
  readonly responseCode?: number;
}

/** EMAIL_PROVIDER=smtp: a mail server named by SMTP_URL. */
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
      maxConnections: CONNECTIONS,
      // By itself the pool sends again what was under way when a connection broke: up to five times the same mail.
      maxRequeues: 0,
      host: url.hostname,
      port: url.port ? Number(url.port) : url.protocol === 'smtps:' ? 465 : 587,
      secure: url.protocol === 'smtps:',
      ...(url.username ? { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } } : {}),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // What a template says is text: nothing in it is fetched or read from disk.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send(mail: OutgoingMail): Promise<void> {
    if (!ADDRESS.test(mail.to)) throw new Refused('smtp: not one address');
    const attachments = (mail.attachments?.() ?? []).map(({ name, contentType, content }) => ({
      filename: name,
      contentType,
      content,
    }));
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
      throw verdict(error as SmtpError);
    }
  }

  override close(): void {
    this.transport.close();
  }
}

/** Codes only: a server's sentences quote the address. */
function verdict({ code, command, responseCode, syscall, message }: SmtpError): Error {
  const what = `smtp ${command ?? 'CONN'}: ${responseCode ?? code ?? 'no answer'}`;
  if (code === 'EAUTH' || responseCode === 530 || responseCode === 535) return new NotSent(what);
  if (responseCode === 421) return new ProviderDown(what);
  if (responseCode !== undefined) return responseCode >= 500 ? new Refused(what) : new NotSent(what);
  if (code === 'EENVELOPE') return new Refused(what);
  const neverBegan = syscall === 'connect' || code === 'EDNS' || code === 'ETLS' || BEFORE_THE_CONVERSATION.test(message);
  return neverBegan ? new ProviderDown(what) : new NoAnswer(what);
}
