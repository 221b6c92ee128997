import { CALL_TIMEOUT_MS } from '#messaging/sending/call-timeout';
import { failureOf, post, type ProviderAnswer } from '#messaging/sending/post-to-provider';
import { NotSent, Refused, type SendFailure } from '#messaging/sending/send-errors';
import { MailProvider, type Attachment, type OutgoingMail } from '../application/ports.ts';
import { messageIdHeader } from './message-id.ts';

/** The account at Mailgun, and the sender of our mails. */
export interface MailgunOptions {
  readonly base: string;
  readonly domain: string;
  readonly apiKey: string;
  readonly from: string;
  readonly timeoutMs?: number;
}

/** EMAIL_PROVIDER=mailgun: sends with `POST {base}/v3/{domain}/messages`, a form as in Mailgun's documentation. */
export class Mailgun extends MailProvider {
  constructor(private readonly options: MailgunOptions) {
    super();
  }

  async send(mail: OutgoingMail): Promise<void> {
    const { base, domain, apiKey, from, timeoutMs } = this.options;
    const fields = {
      from,
      to: mail.to,
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      // Both copies of a mail that is sent twice have this id. So mail programs show the mail once, and Mailgun's log shows the
      // duplicate.
      'h:Message-Id': messageIdHeader(mail.messageId, from),
      // No click tracking: Mailgun would rewrite our links and lead fans through its own server.
      'o:tracking': 'no',
      'o:tag': mail.template,
    };
    const attachments = mail.attachments?.() ?? [];
    const answer = await post({
      url: `${base}/v3/${encodeURIComponent(domain)}/messages`,
      headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}` },
      body: attachments.length > 0 ? multipartFormOf(fields, attachments) : new URLSearchParams(fields),
      timeoutMs: timeoutMs ?? CALL_TIMEOUT_MS,
    });
    if (answer.status >= 300) throw sendFailureOf(answer);
  }
}

/** The form of a mail with files, as multipart. */
function multipartFormOf(fields: Readonly<Record<string, string>>, attachments: readonly Attachment[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  // The name of an inline file is its Content-ID, by which the HTML shows it.
  for (const { name, contentType, content, inline } of attachments)
    form.append(inline ? 'inline' : 'attachment', new Blob([new Uint8Array(content)], { type: contentType }), name);
  return form;
}

/**
 * The SendFailure of a failed request. Errors contain the status only, because Mailgun's error texts may contain the
 * recipient's address.
 */
function sendFailureOf(answer: ProviderAnswer): SendFailure {
  const reason = `mailgun answered ${answer.status}`;
  // Other 4xx answers are not about the mail, which can be sent later: 401, 403 and 404 mean that our key or domain is wrong, 402
  // that our account has a problem.
  const isAboutMail = [400, 413, 422].includes(answer.status);
  return failureOf(answer, reason) ?? (isAboutMail ? new Refused(reason) : new NotSent(reason));
}
