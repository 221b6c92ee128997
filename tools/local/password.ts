import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readText } from './optional-file.ts';

/**
 * The password of a user of the server whose data is in this folder. It is made at the first start and kept in a file that only its owner can
 * read: other users of this machine can reach the port of the server.
 */
export function readOrMakePassword(folder: string, name = 'password'): string {
  const file = path.join(folder, name);
  const storedPassword = readText(file)?.split('\n')[0];
  if (storedPassword) return storedPassword;
  const password = randomBytes(18).toString('base64url');
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}
