import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** Expects that a generated file equals `text`. `npm run docs` writes the file instead. */
export function expectGenerated(file: string, text: string): void {
  const fullPath = path.join(root, file);
  if (process.env.TRIBINA_WRITE_DOCS === '1') writeFileSync(fullPath, text);
  expect(readFileSync(fullPath, 'utf8')).toBe(text);
}
