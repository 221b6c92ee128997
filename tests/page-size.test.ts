import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { npmBinary, ROOT } from '../tools/local/build.ts';
import { runCommand } from '../tools/local/run-command.ts';
import { filesIn, publishWebApp, viteArguments, viteEnvironment } from '../tools/local/web-app.ts';

// What browsers load: every fan the script and the style named `index`, operators and partners also those named `staff-pages`.

// Not literals in the imports, because the web app is compiled with the types of a browser, and this test without them.
const textFiles: readonly string[] = ['../apps/web/src/text/texts.ts', '../apps/web/src/text/staff-language.ts'];

const folder = mkdtempSync(path.join(tmpdir(), 'tribina-page-size-'));
const served = path.join(folder, 'served');
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  const built = path.join(folder, 'built');
  const { code, output } = await runCommand(npmBinary('vite'), viteArguments(built), { cwd: ROOT, env: viteEnvironment() });
  if (code !== 0) throw new Error(output);
  publishWebApp(built, served);
}, 120_000);

/** The path of the only file with this name, whatever its hash is. */
function fileOf(name: string): string {
  const [before, ...ending] = name.split('.');
  const files = filesIn(served).filter((file) => new RegExp(`^assets/${before}-[\\w-]{8}\\.${ending.join('\\.')}$`).test(file));
  expect(files).toHaveLength(1);
  return path.join(served, files[0]!);
}

test('the build is one script and one style for all, and one of each for operators and partners', () => {
  for (const name of ['index.js', 'index.css', 'staff-pages.js', 'staff-pages.css']) fileOf(name);
  expect(filesIn(served).filter((file) => /\.(js|css)$/.test(file))).toHaveLength(4);
  expect(readFileSync(path.join(served, 'index.html'), 'utf8')).not.toContain('staff-pages');
});

// A few percent above the sizes in docs/testing.md. A page that fans do not need belongs into a file of its own.
test.each([
  ['index.js', 356_000],
  ['index.js.gz', 110_500],
  ['index.js.br', 103_000],
  ['index.css', 22_500],
  ['index.css.br', 5_300],
])('%s, which each fan may load, has at most %i bytes', (name, limit) => {
  expect(statSync(fileOf(name)).size).toBeLessThanOrEqual(limit);
});

/** The long texts in an object of texts, without those that are functions. */
function longTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.length >= 25 ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(longTexts) : [];
}

test('no text of the pages of operators and partners is in the script that each fan loads', async () => {
  const [forFans, forAll] = (await Promise.all(textFiles.map((file) => import(file)))) as [
    { languages: object },
    { staffLanguages: object },
  ];
  const ofFans = new Set(longTexts(forFans.languages));
  const ofStaff = longTexts(forAll.staffLanguages).filter((text) => !ofFans.has(text));
  const missingIn = (name: string) => {
    const script = readFileSync(fileOf(name), 'utf8');
    return ofStaff.filter((text) => !script.includes(text));
  };
  expect(ofStaff.length).toBeGreaterThan(100);
  expect(missingIn('staff-pages.js')).toEqual([]);
  expect(missingIn('index.js')).toEqual(ofStaff);
});
