import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// A canary is a file that breaks one lint rule on purpose. The first line of each file under tests/canaries names the rule that it
// breaks, or says `// legal`. The folders mirror those of the project, because lint rules depend on the path. This test copies them
// to a temporary folder with the lint settings of the project and runs the linter there.

const root = path.resolve(import.meta.dirname, '..');
const canaries = path.join(root, 'tests/canaries');
const rulesByFile = new Map<string, string[]>();

interface Report {
  diagnostics: { filename: string; code: string }[];
}

beforeAll(() => {
  const copy = mkdtempSync(path.join(tmpdir(), 'tribina-canaries-'));
  try {
    cpSync(canaries, copy, { recursive: true });
    for (const item of ['.oxlintrc.json', 'tools/lint', 'tsconfig.json', 'package.json']) {
      cpSync(path.join(root, item), path.join(copy, item), { recursive: true });
    }
    symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
    const oxlint = path.join(root, 'node_modules/.bin/oxlint');
    const { stdout } = spawnSync(oxlint, ['--disable-nested-config', '-f', 'json', 'apps', 'libs'], {
      cwd: copy,
      encoding: 'utf8',
    });
    const { diagnostics } = JSON.parse(stdout) as Report;
    for (const { filename, code } of diagnostics) rulesByFile.set(filename, [...(rulesByFile.get(filename) ?? []), code]);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

const cases = readdirSync(canaries, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const [firstLine = ''] = readFileSync(path.join(canaries, file), 'utf8').split('\n');
    const [, rule, reason] = /^\/\/ rejected by (\S+): (.+)$/.exec(firstLine) ?? [];
    return { file, firstLine, rule, reason };
  });

test.each(cases.filter(({ rule }) => rule))('the linter reports $rule for $file: $reason', ({ file, rule }) => {
  expect([...new Set(rulesByFile.get(file))]).toEqual([rule]);
});

test.each(cases.filter(({ rule }) => !rule))('the linter accepts $file', ({ file, firstLine }) => {
  expect(firstLine).toBe('// legal');
  expect(rulesByFile.get(file)).toBeUndefined();
});
