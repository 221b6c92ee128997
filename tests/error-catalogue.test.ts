import { errorCatalogue, type ErrorCode } from '#contracts/error-catalogue';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { renderErrors } from '../tools/docs/errors.ts';

/** Error codes of the catalogue that the services do not throw yet, each with its reason. The list may only get shorter. */
const thrownLater: Partial<Record<ErrorCode, string>> = {};

const root = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(root, 'docs/reference/errors.md'), 'utf8');
const codes = Object.keys(errorCatalogue);

test('docs/reference/errors.md equals the output of renderErrors: run `npm run docs` after a change of the catalogue', () => {
  expect(page).toBe(renderErrors(errorCatalogue));
});

test('docs/reference/errors.md lists exactly the codes of the catalogue', () => {
  const onPage = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  expect(onPage).toEqual([...codes].sort());
});

test('errors with a status of 500 or more, or with a retryAfterSeconds, are marked as retryable', () => {
  const rows = Object.entries(errorCatalogue as Record<string, { status: number; retry: string; retryAfterSeconds?: number }>);
  expect(rows.filter(([, { retry, retryAfterSeconds }]) => retryAfterSeconds !== undefined && retry === 'no')).toEqual([]);
  expect(rows.filter(([, { status, retry }]) => status >= 500 && retry === 'no')).toEqual([]);
});

/** The text of all service sources, without code that only names error codes: the catalogue, its types, and sets that classify codes. */
function throwingSources(): string {
  const files = globSync(['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root });
  const excludedFiles = /\.test\.ts$|\.contract\.ts$|\/testing\/|^apps\/web\/|error-catalogue\.ts$|domain-error\.ts$/;
  const texts = files.filter((file) => !excludedFiles.test(file)).map((file) => readFileSync(path.join(root, file), 'utf8'));
  return texts.join('\n').replaceAll(/new Set(<[^>]*>)?\(\[[^\]]*\]\)/g, '');
}

test('every error code of the catalogue is thrown by a service, except the codes in thrownLater', () => {
  const sources = throwingSources();
  const neverThrown = codes.filter((code) => !sources.includes(`'${code}'`));
  expect(neverThrown).toEqual(Object.keys(thrownLater).sort());
});

test('every error code that a service throws is in the catalogue', () => {
  const thrown = [...throwingSources().matchAll(/new (?:DomainError|RequestRefused)\(\s*'([A-Z_]+)'/g)].map(([, code]) => code);
  expect(thrown.length).toBeGreaterThan(20);
  expect(thrown.filter((code) => code && !codes.includes(code))).toEqual([]);
});
