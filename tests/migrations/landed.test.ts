import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { landedFaults } from './landed.ts';

const folder = path.resolve(import.meta.dirname, '../../migrations');
const checksums = JSON.parse(readFileSync(path.join(import.meta.dirname, 'checksums.json'), 'utf8')) as Record<string, string>;
const landed = new Map(Object.entries(checksums));

const checksumOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

function filesOf(root: string): Map<string, string> {
  const files = globSync('**/*', { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  return new Map(paths.sort().map((file) => [file, checksumOf(readFileSync(path.join(root, file)))]));
}

test('each file in migrations is as it was when it landed', () => {
  expect(landedFaults(filesOf(folder), landed)).toEqual([]);
  expect([...landed.keys()].filter((file) => file.startsWith('before-baseline/'))).toHaveLength(15);
});

test('each file in migrations is run by migrate: four digits, a name, .sql, and no number twice', () => {
  const names = [...landed.keys()];
  expect(names.filter((file) => !/^(before-baseline\/)?\d{4}-[a-z0-9-]+\.sql$/.test(file))).toEqual([]);
  const numbers = names.map((file) => file.slice(0, file.lastIndexOf('/') + 5));
  expect(numbers).toEqual([...new Set(numbers)]);
});

test('numbers continue after the files before the baseline, so no number has two meanings', () => {
  const later = [...landed.keys()].filter((file) => !file.includes('/') && file !== '0001-baseline.sql');
  expect(later.filter((file) => Number(file.slice(0, 4)) < 17)).toEqual([]);
});

describe('a fault is reported', () => {
  const [file = '', checksum = ''] = [...landed][0] ?? [];

  test('when one character of a landed file is edited', () => {
    const edited = `${readFileSync(path.join(folder, file), 'utf8')} `;
    const files = new Map([...landed, [file, checksumOf(edited)]]);
    expect(landedFaults(files, landed)).toEqual([`${file} was edited: a landed migration is never edited, write a new one.`]);
  });

  test('when a landed file is missing', () => {
    const files = new Map([...landed].filter(([name]) => name !== file));
    expect(landedFaults(files, landed)).toEqual([`${file} is missing: a landed migration is never deleted or renamed.`]);
  });

  test('when a new file has no checksum, with the line to add', () => {
    expect(landedFaults(new Map([...landed, ['0099-new.sql', checksum]]), landed)).toEqual([
      `0099-new.sql is new: add this line to tests/migrations/checksums.json:  "0099-new.sql": "${checksum}"`,
    ]);
  });
});
