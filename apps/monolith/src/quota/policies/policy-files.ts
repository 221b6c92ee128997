import { policySchema, type PolicySummary, type QuotaPolicy } from '#contracts/quota-policies';
import { projectFile } from '#platform/project-root';
import { readdir, readFile } from 'node:fs/promises';

/** Reads the policy `policies/<name>.json`. Undefined if there is none. A file that is no valid policy is a defect. */
export async function readPolicy(name: string): Promise<QuotaPolicy | undefined> {
  try {
    return policySchema.parse(JSON.parse(await readFile(projectFile('policies', `${name}.json`), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The policies that exist, by name. */
export async function listPolicies(): Promise<PolicySummary[]> {
  const files = await readdir(projectFile('policies'));
  const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
  const policies = await Promise.all(names.sort().map(readPolicy));
  return policies.flatMap((policy) => (policy ? [{ name: policy.name, title: policy.title, source: policy.source }] : []));
}
