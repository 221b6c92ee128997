// `npm run docs`: writes the generated pages under docs/reference, the examples of the API, and .env.example. The pages are rendered by the files in
// tools/docs. Pages that need running services are written by the tests in tests/reference when TRIBINA_WRITE_DOCS is set;
// otherwise those tests only compare the pages.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { errorCatalogue } from '../libs/contracts/src/error-catalogue.ts';
import { renderErrors } from './docs/errors.ts';
import { ROOT } from './local/build.ts';
import { JEST_ARGUMENTS } from './local/jest-step.ts';
import { runCommand } from './local/run-command.ts';

const folder = path.join(ROOT, 'docs/reference');
mkdirSync(folder, { recursive: true });
writeFileSync(path.join(folder, 'errors.md'), renderErrors(errorCatalogue));

const env = { ...process.env, TRIBINA_WRITE_DOCS: '1' };
// The API descriptions contain the examples that the first run records.
for (const tests of [['tests/reference/live'], ['tests/reference/pages', 'tests/reference/running-services']]) {
  const { code, output } = await runCommand(process.execPath, [...JEST_ARGUMENTS, ...tests], { cwd: ROOT, env });
  if (code === 0) continue;
  process.stdout.write(`${output}\n`);
  process.exitCode = code;
}
if (!process.exitCode) process.stdout.write('docs/reference, libs/contracts/src/examples and .env.example are written\n');
