import { errorCatalogue, type ErrorCode } from '#platform/http/error-catalogue';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { renderErrors } from '../tools/docs/errors.ts';

/** In the catalogue already, thrown only from a later issue on. The list may only get shorter. */
const thrownLater: Partial<Record<ErrorCode, string>> = {};

const root = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(root, 'docs/reference/errors.md'), 'utf8');
const codes = Object.keys(errorCatalogue);

test('the page of errors is what the catalogue says: run `npm run docs` after a change', () => {
  expect(page).toBe(renderErrors(errorCatalogue));
});

test('every code is on the page, and every code on the page exists', () => {
  const onPage = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  expect(onPage).toEqual([...codes].sort());
});

test('what may be sent again under its key is no refusal of the request, and what names a time may be sent again', () => {
  const rows = Object.entries(errorCatalogue as Record<string, { status: number; retry: string; retryAfterSeconds?: number }>);
  expect(rows.filter(([, { retry, retryAfterSeconds }]) => retryAfterSeconds !== undefined && retry === 'no')).toEqual([]);
  expect(rows.filter(([, { status, retry }]) => status >= 500 && retry === 'no')).toEqual([]);
});

/** Sources of the services without what only names codes: the catalogue, its types, and sets that classify them. */
function throwingSources(): string {
  const files = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root });
  const silent = /\.test\.ts$|\.contract\.ts$|\/testing\/|^apps\/web\/|error-catalogue\.ts$|domain-error\.ts$/;
  const texts = files.filter((file) => !silent.test(file)).map((file) => readFileSync(path.join(root, file), 'utf8'));
  return texts.join('\n').replaceAll(/new Set(<[^>]*>)?\(\[[^\]]*\]\)/g, '');
}

test('every code is thrown somewhere, but for those that wait for their issue', () => {
  const sources = throwingSources();
  const neverThrown = codes.filter((code) => !sources.includes(`'${code}'`));
  expect(neverThrown).toEqual(Object.keys(thrownLater).sort());
});

test('every code that is thrown is in the catalogue', () => {
  const thrown = [...throwingSources().matchAll(/new (?:DomainError|RequestRefused)\(\s*'([A-Z_]+)'/g)].map(([, code]) => code);
  expect(thrown.length).toBeGreaterThan(20);
  expect(thrown.filter((code) => code && !codes.includes(code))).toEqual([]);
});
