import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { publishWebApp } from './web-app.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tribina-web-app-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A build as Vite writes it: a page that names an asset with a hash, and a file without one. */
function build(name: string): string {
  const built = path.join(folder, `built-${name}`);
  mkdirSync(path.join(built, 'assets'), { recursive: true });
  writeFileSync(path.join(built, 'index.html'), `<script src="/assets/${name}.js"></script></html>`);
  writeFileSync(path.join(built, 'assets', `${name}.js`), name);
  writeFileSync(path.join(built, 'favicon.svg'), name);
  return built;
}

test('publishWebApp: the page names the new build, and the assets of the build before stay until the next one', async () => {
  const served = path.join(folder, 'served');
  const assets = () => readdirSync(path.join(served, 'assets')).sort();
  for (const [name, expected] of [
    ['a', ['a.js']],
    ['b', ['a.js', 'b.js']],
    ['c', ['b.js', 'c.js']],
    ['c', ['b.js', 'c.js']],
    ['d', ['c.js', 'd.js']],
  ] as const) {
    publishWebApp(build(name), served);
    expect(assets()).toEqual(expected);
    expect(readFileSync(path.join(served, 'index.html'), 'utf8')).toContain(`/assets/${name}.js`);
    expect(readFileSync(path.join(served, 'favicon.svg'), 'utf8')).toBe(name);
    await sleep(2); // Builds are told apart by their time in milliseconds.
  }
  expect(readdirSync(served).sort()).toEqual(['assets', 'favicon.svg', 'index.html']);
});

test('publishWebApp: scripts and styles of more than 1 KB are also written as brotli and gzip', () => {
  const [first, served] = [build('large'), path.join(folder, 'served-compressed')];
  const text = 'a rule of a style sheet; '.repeat(100);
  writeFileSync(path.join(first, 'assets', 'large.css'), text);
  writeFileSync(path.join(first, 'assets', 'photo.png'), text);
  publishWebApp(first, served);
  const assets = readdirSync(path.join(served, 'assets')).sort();
  expect(assets).toEqual(['large.css', 'large.css.br', 'large.css.gz', 'large.js', 'photo.png']);
  const read = (ending: string) => readFileSync(path.join(served, 'assets', `large.css${ending}`));
  expect([zlib.brotliDecompressSync(read('.br')).toString(), zlib.gunzipSync(read('.gz')).toString()]).toEqual([text, text]);
});

test('publishWebApp: an incomplete build changes nothing that is served', () => {
  const served = path.join(folder, 'served-complete');
  publishWebApp(build('whole'), served);
  const broken = build('broken');
  rmSync(path.join(broken, 'index.html'));
  expect(() => publishWebApp(broken, served)).toThrow('ENOENT');
  expect(readFileSync(path.join(served, 'index.html'), 'utf8')).toContain('/assets/whole.js');
  expect(existsSync(path.join(served, 'assets/whole.js'))).toBe(true);
});

/** A process that reads the page and its asset until stdin ends, and then prints how often one of them was missing or cut. */
const readerSource = `
  import { readFileSync } from 'node:fs';
  let reads = 0, faults = 0, ended = false;
  process.stdin.on('end', () => (ended = true)).resume();
  process.stdout.write('reading\\n');
  while (!ended) {
    for (let n = 0; n < 100; n += 1, reads += 1) {
      try {
        const [, name] = /assets\\/(\\w+)\\.js.*<\\/html>$/.exec(readFileSync('index.html', 'utf8'));
        if (readFileSync('assets/' + name + '.js', 'utf8') !== name) faults += 1;
      } catch { faults += 1; }
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(JSON.stringify({ reads, faults }));`;

/** Reads the page all the time in another process while `publish` is called with two builds in turn. */
async function readWhile(served: string, publish: (built: string, served: string) => void | Promise<void>) {
  const builds = [build('one'), build('two')] as const;
  await publish(builds[0], served);
  const reader = spawn(process.execPath, ['--input-type=module', '-e', readerSource], { cwd: served });
  let output = '';
  reader.stdout.on('data', (data) => (output += data));
  while (!output.includes('reading')) await sleep(5);
  for (let round = 0; round < 40; round += 1) {
    await publish(builds[(round % 2) as 0 | 1], served);
    await sleep(3);
  }
  reader.stdin.end();
  await once(reader, 'close');
  return JSON.parse(output.split('\n')[1]!) as { reads: number; faults: number };
}

test('publishWebApp: while builds replace each other, page and asset are never missing and never cut', async () => {
  const { reads, faults } = await readWhile(path.join(folder, 'read-while'), publishWebApp);
  expect(faults).toBe(0);
  expect(reads).toBeGreaterThan(100);
});

test('negative control: a folder that is emptied and written anew has moments without its page', async () => {
  const { faults } = await readWhile(path.join(folder, 'emptied'), async (built, served) => {
    const files = ['assets/one.js', 'assets/two.js', 'index.html'];
    for (const file of files) rmSync(path.join(served, file), { force: true });
    await sleep(1);
    mkdirSync(path.join(served, 'assets'), { recursive: true });
    for (const file of files.filter((name) => existsSync(path.join(built, name))))
      writeFileSync(path.join(served, file), readFileSync(path.join(built, file)));
  });
  expect(faults).toBeGreaterThan(0);
});
