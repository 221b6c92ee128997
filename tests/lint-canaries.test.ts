import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// Each file under tests/canaries breaks one rule of the house and says which in its first line; the others say that they are
// legal. The tree mirrors the project's, is copied out of it with the project's own lint settings, and linted there.

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

test.each(cases.filter(({ rule }) => rule))('$rule rejects $file: $reason', ({ file, rule }) => {
  expect([...new Set(rulesByFile.get(file))]).toEqual([rule]);
});

test.each(cases.filter(({ rule }) => !rule))('$file passes', ({ file, firstLine }) => {
  expect(firstLine).toBe('// legal');
  expect(rulesByFile.get(file)).toBeUndefined();
});
