import { createHash } from 'node:crypto';
import type { MailboxEntry } from './postgres-mailbox.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 52rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.4rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; margin-bottom: 1rem; }
label { display: grid; font-size: .85rem; flex: 1 1 14rem; }
input, button { font: inherit; padding: .45rem .6rem; }
article { border: 1px solid #8886; border-radius: .5rem; padding: .75rem 1rem; margin-bottom: 1rem; }
h2 { font-size: 1.05rem; margin: 0 0 .25rem; }
header p { margin: 0; font-size: .85rem; opacity: .8; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .75rem 0 0; }
`;

/**
 * The Content-Security-Policy of the mailbox page allows only its own style sheet. So the content of a message cannot run scripts
 * or load anything.
 */
export const mailboxPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The Content-Security-Policy of the HTML of a mail allows only inline styles and the images inside the HTML (QR codes). Links open
 * outside the sandbox, and only by a click.
 */
export const mailPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups; base-uri 'none'; frame-ancestors 'none'";

/** The HTML page of the mailbox (messages that were stored instead of sent), for developers and testers. */
export function mailboxPage(items: readonly MailboxEntry[], filter: { to?: string; template?: string }): string {
  const messages = items.map(messageText).join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mailbox</title>
<style>${style}</style>
</head>
<body>
<h1>Mailbox</h1>
<p>Messages that would have been sent, newest first.</p>
<form method="get">
<label>To: address, user id or token <input name="to" value="${escapeHtml(filter.to ?? '')}"></label>
<label>Template <input name="template" value="${escapeHtml(filter.template ?? '')}"></label>
<button>Show</button>
</form>
${messages || '<p>No messages.</p>'}
</body>
</html>
`;
}

function messageText(item: MailboxEntry): string {
  return `<article>
<header>
<h2>${escapeHtml(item.subject)}</h2>
<p>${escapeHtml(item.channel)} · ${escapeHtml(item.template)} · <time datetime="${escapeHtml(item.sent_at)}">${escapeHtml(item.sent_at)}</time></p>
<p>${escapeHtml(item.to)}</p>${item.hasHtml ? `\n<p><a href="html/${encodeURIComponent(item.id)}">as mail programs show it</a></p>` : ''}
${item.attachments.length > 0 ? `<p>attached: ${item.attachments.map(escapeHtml).join(', ')}</p>\n` : ''}</header>
<pre>${escapeHtml(item.text)}</pre>
</article>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
