import type { MailLocale } from './mail-words.ts';

/** A line of a list, with a square image below it. `file` is the name of the attached image. */
interface MailImage {
  readonly line: string;
  readonly file: string;
  /** Shown instead of the image by mail programs that show no images. */
  readonly alt: string;
}

/** A part of a mail. The plain text and the HTML are rendered from the same blocks, so they always have the same content. */
export type MailBlock =
  | { readonly kind: 'lines'; readonly lines: readonly string[] }
  | { readonly kind: 'list'; readonly title?: string; readonly items: readonly string[] }
  | { readonly kind: 'images'; readonly items: readonly MailImage[] }
  | {
      readonly kind: 'link';
      readonly before: string;
      readonly label: string;
      readonly url: string;
      readonly after?: readonly string[];
    };

/** A mail before it is rendered. */
export interface MailDocument {
  readonly locale: MailLocale;
  readonly subject: string;
  readonly blocks: readonly MailBlock[];
}

/** A mail in the language of its payload. */
export type WrittenMail = readonly [subject: string, ...blocks: MailBlock[]];

/** A rendered mail: subject, plain text and HTML. */
export interface MailText {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A block of consecutive lines of text. */
export const lines = (...all: readonly string[]): MailBlock => ({ kind: 'lines', lines: all });

/** Renders a mail as plain text and as HTML. */
export function render(document: MailDocument): MailText {
  return { subject: document.subject, text: plainText(document), html: htmlOf(document) };
}

/** The plain text version: paragraphs separated by empty lines, with a line break at the end. */
function plainText({ blocks }: MailDocument): string {
  const paragraphs = blocks.map((block) => {
    if (block.kind === 'lines') return block.lines.join('\n');
    if (block.kind === 'link') return [`${block.before}: ${block.url}`, ...(block.after ?? [])].join('\n');
    if (block.kind === 'images') return block.items.map(({ line }) => `  - ${line}`).join('\n');
    return [...(block.title === undefined ? [] : [block.title]), ...block.items.map((item) => `  - ${item}`)].join('\n');
  });
  return `${paragraphs.join('\n\n')}\n`;
}

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;";
const TEXT = `${FONT}font-size:16px;line-height:24px;color:#1c1f24;`;
const SMALL = `${FONT}font-size:13px;line-height:20px;color:#5b6470;`;
const FOOTER: Record<MailLocale, string> = {
  hr: 'Ovu poruku šalje sustav za prodaju ulaznica. Na nju ne treba odgovarati.',
  en: 'This message was sent by the ticket shop. There is no need to answer it.',
};

/**
 * The HTML layout of all mails. Tables and inline styles, because Outlook renders with Word and Gmail removes style sheets. 600 px,
 * because mail programs show that width. Images are attached to the mail. No remote images or
 * fonts, because mail programs block them and they would track readers.
 */
function htmlOf({ locale, subject, blocks }: MailDocument): string {
  const rows = blocks.map((block) => `<tr><td style="padding:0 32px 20px;${TEXT}">${blockHtml(block)}</td></tr>`).join('\n');
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:0;background-color:#f2f4f7;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:#f2f4f7;">
<tr><td align="center" style="padding:24px 12px;">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:600px;background-color:#ffffff;">
<tr><td style="padding:28px 32px 20px;${FONT}font-size:20px;line-height:28px;font-weight:bold;color:#1c1f24;">${escapeHtml(subject)}</td></tr>
${rows}
<tr><td style="padding:16px 32px 28px;${SMALL}">${FOOTER[locale]}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function blockHtml(block: MailBlock): string {
  if (block.kind === 'lines') return block.lines.map(escapeHtml).join('<br>');
  if (block.kind === 'list') {
    const title = block.title === undefined ? '' : `${escapeHtml(block.title)}<br>`;
    const items = block.items.map((item) => `<li style="margin:0 0 4px;">${escapeHtml(item)}</li>`).join('');
    return `${title}<ul style="margin:8px 0 0;padding:0 0 0 20px;">${items}</ul>`;
  }
  if (block.kind === 'images')
    return `<ul style="margin:8px 0 0;padding:0 0 0 20px;">${block.items.map(imageHtml).join('')}</ul>`;
  const url = escapeHtml(webAddress(block.url));
  const button = `<a href="${url}" style="display:inline-block;padding:12px 20px;background-color:#0b4f9e;color:#ffffff;text-decoration:none;font-weight:bold;">${escapeHtml(block.label)}</a>`;
  const after = (block.after ?? []).map(escapeHtml).join('<br>');
  // Show the URL as text below the button: some mail programs show no links, and readers can see where the link leads.
  const address = `<span style="${SMALL}">${url}</span>`;
  return `${escapeHtml(block.before)}:<br><br>${button}<br>${address}${after ? `<br><br>${after}` : ''}`;
}

/** Width of a shown image: four pixels for each module of a ticket's QR code, which has 49 modules and a border of four. */
const IMAGE_PIXELS = 228;

function imageHtml({ line, file, alt }: MailImage): string {
  const size = `width="${IMAGE_PIXELS}" height="${IMAGE_PIXELS}"`;
  const image = `<img src="cid:${escapeHtml(file)}" ${size} alt="${escapeHtml(alt)}" style="display:block;margin:8px 0 0;border:0;">`;
  return `<li style="margin:0 0 20px;">${escapeHtml(line)}${image}</li>`;
}

/** Returns the URL if it is an http or https URL, and throws otherwise. */
function webAddress(url: string): string {
  if (!/^https?:\/\/[^\s"'<>]+$/.test(url)) throw new Error('A link of a mail is not a web address');
  return url;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML. Tests first for special characters: names rarely have any, and the test costs a tenth of a replace. */
function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => entities[character] ?? character) : text;
}
