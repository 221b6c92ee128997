import { CALL_TIMEOUT_MS } from '#platform/sending/call-timeout';
import { post, type HttpAnswer } from '#platform/sending/http-call';
import { NotSent, ProviderDown, Refused, TooFast } from '#platform/sending/send-errors';
import { MailProvider, type Attachment, type OutgoingMail } from '../application/ports.ts';

/** When a 429 does not say how long. */
const PAUSE_MS = 1000;

export interface MailgunOptions {
  readonly base: string;
  readonly domain: string;
  readonly apiKey: string;
  readonly from: string;
  readonly timeoutMs?: number;
}

/** EMAIL_PROVIDER=mailgun: `POST {base}/v3/{domain}/messages`, a form as documented. */
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
      // The same message twice has the same id: mail programs show it once, and Mailgun's log tells.
      'h:Message-Id': `<${mail.messageId}@${domain}>`,
      // Links are our own; rewriting them to count clicks would send fans somewhere else first.
      'o:tracking': 'no',
      'o:tag': mail.template,
    };
    const attachments = mail.attachments?.() ?? [];
    const answer = await post({
      url: `${base}/v3/${encodeURIComponent(domain)}/messages`,
      headers: { authorization: `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}` },
      body: attachments.length > 0 ? formOf(fields, attachments) : new URLSearchParams(fields),
      timeoutMs: timeoutMs ?? CALL_TIMEOUT_MS,
    });
    judge(answer);
  }
}

/** Files travel in a form of parts, whose type fetch writes with its boundary. */
function formOf(fields: Readonly<Record<string, string>>, attachments: readonly Attachment[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const { name, contentType, content } of attachments)
    form.append('attachment', new Blob([new Uint8Array(content)], { type: contentType }), name);
  return form;
}

/** Statuses only: Mailgun's sentences may quote the address. */
function judge({ status, retryAfterMs }: HttpAnswer): void {
  const what = `mailgun answered ${status}`;
  if (status >= 200 && status < 300) return;
  if (status === 429) throw new TooFast(retryAfterMs ?? PAUSE_MS, what);
  if (status >= 500) throw new ProviderDown(what);
  if (status === 400 || status === 413 || status === 422) throw new Refused(what);
  // 401, 403, 404 are our key or domain, 402 our account: the message is as good as before.
  throw new NotSent(what);
}
