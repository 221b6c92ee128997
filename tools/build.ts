// `npm run build [-- --server-only]`: builds the services and the web app into dist/. The web app is built only if its sources
// have changed.
import { build } from './local/build.ts';
import { explain } from './local/trouble.ts';

try {
  await build({ say: (line) => void process.stdout.write(`${line}\n`), serverOnly: process.argv.includes('--server-only') });
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
