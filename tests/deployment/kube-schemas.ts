import path from 'node:path';
import type { KubeDocument } from './kube-documents.ts';
import { labelOf } from './kube-documents.ts';

interface Validator {
  (data: unknown): boolean;
  errors?: { instancePath: string; message?: string; keyword: string; params: unknown }[] | null;
}

/** Where the validators of the operators' API types are. Their packages do not export them, so they are loaded by path. */
const operators: Readonly<Record<string, string>> = {
  'postgresql.cnpg.io/v1': '@kubernetes-models/cloudnative-pg/_schemas/ComGithubCloudnativePgCloudnativePgApiV1',
  'keda.sh/v1alpha1': '@kubernetes-models/keda/_schemas/ComGithubKedacoreKedaV2ApisKedaV1alpha1',
};

/**
 * kubernetes-models ships one compiled validator per API type: `autoscaling/v2` HorizontalPodAutoscaler is
 * `_schemas/IoK8sApiAutoscalingV2HorizontalPodAutoscaler.js`. An API type that Kubernetes does not have has no file.
 */
async function validatorFor({ apiVersion, kind }: KubeDocument): Promise<Validator | undefined> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const capital = (word = '') => word.charAt(0).toUpperCase() + word.slice(1);
  const operator = operators[apiVersion];
  const file = operator
    ? path.resolve('node_modules', `${operator}${kind}.js`)
    : `kubernetes-models/_schemas/IoK8sApi${capital(group?.split('.')[0])}${capital(version)}${kind}`;
  try {
    return ((await import(file)) as { validate: Validator }).validate;
  } catch {
    return undefined;
  }
}

/**
 * Wraps a value in a proxy that records which fields are read. The validators accept unknown fields, so the misspelt `livenesProbe` would
 * be valid. But they read every field they know: Kubernetes would ignore a field that was never read.
 */
function recordingReads(value: unknown, where: string, unread: Map<string, Set<string>>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const keys = new Set(Object.keys(value));
  unread.set(where, keys);
  const inner = new Map<string, unknown>();
  for (const key of keys) inner.set(key, recordingReads((value as Record<string, unknown>)[key], `${where}/${key}`, unread));
  return new Proxy(value, {
    get(target, key, receiver) {
      if (typeof key !== 'string' || !inner.has(key)) return Reflect.get(target, key, receiver) as unknown;
      keys.delete(key);
      return inner.get(key);
    },
  });
}

/** Violations of the Kubernetes schema of this API type. Unknown fields count as violations. */
export async function schemaViolations(document: KubeDocument): Promise<string[]> {
  const validate = await validatorFor(document);
  if (!validate) return [`${labelOf(document)}: Kubernetes has no ${document.apiVersion} ${document.kind}`];
  const unread = new Map<string, Set<string>>();
  if (!validate(recordingReads(document.body, '', unread))) {
    return (validate.errors ?? []).map(
      (error) => `${labelOf(document)}${error.instancePath}: ${error.keyword} ${JSON.stringify(error.params)}`,
    );
  }
  // An unknown field that holds an object is reported together with all fields inside the object.
  return [...unread].flatMap(([where, keys]) =>
    [...keys].map((key) => `${labelOf(document)}${where}/${key}: Kubernetes does not know this field`),
  );
}
