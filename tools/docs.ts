// `npm run docs`: writes the generated pages under docs/reference. What a page says is decided where it is rendered (tools/docs).
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorCatalogue } from '../libs/platform/src/http/error-catalogue.ts';
import { renderErrors } from './docs/errors.ts';

const folder = path.resolve(import.meta.dirname, '../docs/reference');
const pages: Record<string, () => string> = {
  'errors.md': () => renderErrors(errorCatalogue),
};

mkdirSync(folder, { recursive: true });
for (const [name, render] of Object.entries(pages)) {
  writeFileSync(path.join(folder, name), render());
  process.stdout.write(`docs/reference/${name}\n`);
}
