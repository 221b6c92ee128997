import MimeNode from 'nodemailer/lib/mime-node';
import { encode, wrap } from 'nodemailer/lib/qp';
import type { Attachment, OutgoingMail } from '../application/ports.ts';
import { messageIdHeader } from './message-id.ts';

/** A mail as an SMTP server takes it. */
export interface MimeMessage {
  readonly envelope: { readonly from: string | false; readonly to: string[] };
  readonly raw: Buffer;
}

/**
 * The lines between parts. Quoted-printable text has no `=_` and base64 no `_`, so no content can contain them: they need not be
 * random.
 */
const [MIXED, ALTERNATIVE, RELATED] = ['=_mixed', '=_alternative', '=_related'];
const BASE64_LINE = /.{76}(?=.)/g;

/**
 * Writes a mail as MIME:
 *
 *   mixed ─┬─ alternative ─┬─ text
 *          │               └─ related ─┬─ HTML
 *          │                           └─ the images that it shows
 *          └─ files
 *
 * nodemailer writes the headers, which have many rules. The parts are written here, in one go: nodemailer has several streams for each
 * part, and they took most of a mail's time.
 */
export function mimeMessage(mail: OutgoingMail, from: string): MimeMessage {
  const attachments = mail.attachments?.() ?? [];
  const images = attachments.filter(({ inline }) => inline);
  const files = attachments.filter(({ inline }) => !inline);
  const html = multipart('related; type="text/html"', RELATED, [textPart('html', mail.html), ...images.map(filePart)]);
  const texts = multipart('alternative', ALTERNATIVE, [textPart('plain', mail.text), html]);
  const { headers, body } = multipart('mixed', MIXED, [texts, ...files.map(filePart)]);
  const root = new MimeNode(undefined, { baseBoundary: MIXED });
  root.setHeader({
    From: from,
    To: { name: '', address: mail.to },
    Subject: mail.subject,
    'Message-ID': messageIdHeader(mail.messageId, from),
    'X-Template': mail.template,
    'Auto-Submitted': 'auto-generated',
  });
  const { from: sender, to } = root.getEnvelope();
  const raw = Buffer.from(`${[root.buildHeaders(), ...headers].join('\r\n')}\r\n\r\n${body}`, 'latin1');
  return { envelope: { from: sender, to }, raw };
}

/** A part of a mail. Its body is ASCII. */
interface Part {
  readonly headers: readonly string[];
  readonly body: string;
}

/** A part with parts. A single part needs none around it. */
function multipart(
  type: 'mixed' | 'alternative' | 'related; type="text/html"',
  boundary: string,
  parts: readonly [Part, ...Part[]],
): Part {
  if (parts.length === 1) return parts[0];
  const body = parts.map((part) => `--${boundary}\r\n${part.headers.join('\r\n')}\r\n\r\n${part.body}\r\n`).join('');
  return { headers: [`Content-Type: multipart/${type}; boundary="${boundary}"`], body: `${body}--${boundary}--\r\n` };
}

function textPart(type: 'plain' | 'html', text: string): Part {
  return {
    headers: [`Content-Type: text/${type}; charset=utf-8`, 'Content-Transfer-Encoding: quoted-printable'],
    body: wrap(encode(text.replace(/\r?\n|\r/g, '\r\n'))),
  };
}

/** The HTML shows an inline file by its name, which is its Content-ID. */
function filePart({ name, contentType, content, inline = false }: Attachment): Part {
  return {
    headers: [
      `Content-Type: ${contentType}; name="${name}"`,
      `Content-Disposition: ${inline ? 'inline' : 'attachment'}; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
      ...(inline ? [`Content-ID: <${name}>`] : []),
    ],
    body: content.toString('base64').replace(BASE64_LINE, '$&\r\n'),
  };
}
