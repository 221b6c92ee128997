import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

/** The folder that the monolith serves. */
export const WEB_FOLDER = 'dist/web';
const PAGE = 'index.html';

/** Arguments of Vite for a build of the web app into `folder`. */
export function viteArguments(folder: string): string[] {
  return ['build', 'apps/web', '--outDir', folder, '--emptyOutDir'];
}

/** The environment of Vite. With the NODE_ENV=test of Jest, Vite would bundle React's development build, which runs each effect twice. */
export function viteEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_ENV: 'production' };
}

/** Files of the build that are also written compressed, beside the plain file: the monolith sends what a browser accepts. */
const COMPRESSIBLE = /^assets[/\\].*\.(js|css|svg|json)$/;
const MIN_COMPRESSED_BYTES = 1024;
/**
 * Compresses for download. The best quality of brotli takes a second for 330 KB and saves 7 KB of 97; `npm run dev` compresses after
 * every change.
 */
const compressors = {
  '.br': (bytes: Buffer) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 } }),
  '.gz': (bytes: Buffer) => zlib.gzipSync(bytes, { level: 9 }),
};

/** The plain bytes of a file of the build, and the compressed ones, each by the name under which it is served. */
function servedFiles(built: string, file: string): [name: string, bytes: Buffer][] {
  const bytes = readFileSync(path.join(built, file));
  if (!COMPRESSIBLE.test(file) || bytes.length < MIN_COMPRESSED_BYTES) return [[file, bytes]];
  const endings = Object.entries(compressors);
  return [[file, bytes], ...endings.map(([ending, compress]): [string, Buffer] => [file + ending, compress(bytes)])];
}

/**
 * Copies a build of the web app from `built` to the folder `served`, while browsers load files from there. The page comes last and
 * in one step, so that it always exists and names only files that exist. The files of the build before stay, because browsers that
 * have its page may still load them; the files of older builds are removed.
 */
export function publishWebApp(built: string, served: string): void {
  const page = path.join(served, PAGE);
  const replaced = existsSync(page) ? { time: statSync(page).mtimeMs, text: readFileSync(page, 'utf8') } : undefined;
  const assets = filesIn(built).filter((file) => file !== PAGE);
  const now = new Date();
  for (const [file, bytes] of [...assets, PAGE].flatMap((asset) => servedFiles(built, asset))) {
    const target = path.join(served, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(`${target}.new`, bytes);
    // All files of a build get the time of its page, which tells them from the files of older builds.
    utimesSync(`${target}.new`, now, now);
    renameSync(`${target}.new`, target);
  }
  // The same page again is the same build: Vite builds twice if a file is saved twice.
  if (!replaced || replaced.text === readFileSync(page, 'utf8')) return;
  for (const file of filesIn(served)) {
    const target = path.join(served, file);
    if (statSync(target).mtimeMs < replaced.time) rmSync(target);
  }
}

/** The files of a folder and the folders below it, as paths in that folder. */
export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
}
