// `npm run build [-- --server-only]`: the services and the web app into dist/. Only what has changed is built again.
import { build } from './local/build.ts';
import { explain } from './local/trouble.ts';

try {
  await build({ say: (line) => void process.stdout.write(`${line}\n`), serverOnly: process.argv.includes('--server-only') });
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
