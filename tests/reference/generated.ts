import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

/** The file in the tree is what the code says: written by `npm run docs`, compared by every other run. */
export function expectGenerated(file: string, text: string): void {
  const place = path.join(root, file);
  if (process.env.TRIBINA_WRITE_DOCS === '1') writeFileSync(place, text);
  expect(readFileSync(place, 'utf8')).toBe(text);
}
