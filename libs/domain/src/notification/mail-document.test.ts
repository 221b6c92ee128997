import { lines, render, type MailDocument } from './mail-document.ts';

const attack = `"><script>alert('x')</script>&`;
const document: MailDocument = {
  locale: 'hr',
  subject: attack,
  blocks: [
    lines('prvi', attack),
    { kind: 'list', title: attack, items: [attack, 'dva'] },
    { kind: 'link', before: attack, label: attack, url: 'https://api.hns.hr/tickets?a=1&b=2', after: [attack] },
  ],
};

test('mail: the plain text and the HTML have the same content in the same order', () => {
  const { text, html } = render(document);
  const words = html
    .replace(/<head>[\s\S]*<\/head>/, '')
    .replace(/<[^>]+>/g, '\n')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .split('\n');
  let from = 0;
  for (const line of text.split('\n').filter(Boolean)) {
    const [before, url] = line.split(': https://');
    for (const wanted of [String(before).replace(/^ {2}- /, ''), ...(url ? [`https://${url}`] : [])]) {
      const at = words.findIndex((word, index) => index >= from && word.replace(/:$/, '') === wanted.replace(/:$/, ''));
      expect([wanted, at]).not.toEqual([wanted, -1]);
      from = at;
    }
  }
});

test('mail: values are escaped and cannot become HTML markup', () => {
  const { html } = render(document);
  expect(html).not.toContain('<script');
  expect(html.match(/&quot;&gt;&lt;script&gt;/g)?.length).toBe(8);
});

test('mail: the HTML uses tables and inline styles, is 600 px wide, well-formed and under 20 KB, and loads no external resource', () => {
  const { html } = render(document);
  expect(html).toMatch(/^<!doctype html>\n<html lang="hr">/);
  expect(html).not.toMatch(/<(img|link|script|style|iframe|form|div|video)\b|src=|url\(|@import|class=/);
  expect(html).toContain('max-width:600px');
  expect(html.match(/<table role="presentation"/g)).toHaveLength(2);
  // Elements are closed in the reverse order in which they were opened.
  const open: string[] = [];
  for (const [, slash, name] of html.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
    if (['meta', 'br'].includes(String(name))) continue;
    if (slash) expect(open.pop()).toBe(name);
    else open.push(String(name));
  }
  expect(open).toEqual([]);
  // Gmail cuts off mails longer than 102 KB.
  expect(html.length).toBeLessThan(20_000);
});

test.each(['javascript:alert(1)', 'https://a.hr/" onclick="x', 'ftp://a.hr', ''])('mail: the link URL "%s" is refused', (url) => {
  const link = { kind: 'link', before: 'x', label: 'x', url } as const;
  expect(() => render({ ...document, blocks: [link] })).toThrow('web address');
});
