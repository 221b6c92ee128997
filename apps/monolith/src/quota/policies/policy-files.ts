import { policySchema, type QuotaPolicy } from '#contracts/quota-policies';
import { projectFile } from '#platform/project-root';
import { readFile } from 'node:fs/promises';

/** Reads the policy `policies/<name>.json`. Undefined if there is none. A file that is no valid policy is a defect. */
export async function readPolicy(name: string): Promise<QuotaPolicy | undefined> {
  try {
    return policySchema.parse(JSON.parse(await readFile(projectFile('policies', `${name}.json`), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
