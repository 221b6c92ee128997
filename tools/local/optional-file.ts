import { readFileSync } from 'node:fs';

/** The text of a file. Undefined if the file is missing or cannot be read. */
export function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The content of a JSON file. Undefined if the file is missing or incomplete (after a crash or on a full disk). */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readText(file) ?? '') as T;
  } catch {
    return undefined;
  }
}
