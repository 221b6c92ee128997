import type { MailboxEntry } from './postgres-mailbox.ts';
import { mailboxPage, mailboxPagePolicy } from './mailbox-page.ts';

const attack = `"><script>alert('x')</script>&`;
const item: MailboxEntry = {
  id: '7',
  hasHtml: true,
  channel: 'email',
  to: attack,
  user_id: null,
  template: attack,
  subject: attack,
  text: attack,
  attachments: [attack],
  sent_at: '2026-11-18T12:00:00.000Z',
};

test('HTML in a message or in the filter is escaped on the mailbox page', () => {
  const page = mailboxPage([item], { to: attack, template: attack });
  expect(page).not.toContain('<script');
  expect(page.split('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;')).toHaveLength(8);
});

test('the mailbox page loads no resources and runs no scripts; it links to the HTML of a mail', () => {
  const page = mailboxPage([item], {});
  expect(page).not.toMatch(/src=|url\(|@import/);
  expect(page.match(/href="[^"]*"/g)).toEqual(['href="html/7"']);
  expect(mailboxPagePolicy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+';/);
});

test('the page of an empty mailbox says that there are no messages', () => {
  expect(mailboxPage([], {})).toContain('No messages.');
});
