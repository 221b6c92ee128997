import fs from 'node:fs';
import path from 'node:path';
import type { KubeDocument } from './kube-documents.ts';
import { isKustomization, labelOf, ofKind, parseYaml, readKubeDocuments, yamlFiles } from './kube-documents.ts';

interface Kustomization {
  resources?: string[];
  components?: string[];
  patches?: { path?: string; target?: { kind: string; name?: string }; patch?: string }[];
  images?: { name: string; newName?: string; newTag?: string }[];
}
const FIELDS = new Set(['apiVersion', 'kind', 'namespace', 'resources', 'components', 'patches', 'images']);

function readKustomization(folder: string): Kustomization {
  const file = path.join(folder, 'kustomization.yaml');
  const [body = {}] = parseYaml(file, fs.readFileSync(file, 'utf8'));
  for (const field of Object.keys(body))
    if (!FIELDS.has(field)) throw new Error(`${file}: this test does not know the field ${field}`);
  return body;
}

/** Reports named files that do not exist, YAML files that no kustomization names, and deploys of the Secret templates. */
export function kustomizationViolations(root: string): string[] {
  const files = yamlFiles(root);
  const named = new Map<string, string[]>();
  for (const file of files.filter(isKustomization)) {
    const folder = path.dirname(file);
    const { resources = [], components = [], patches = [] } = readKustomization(folder);
    for (const target of [...resources, ...components, ...patches.flatMap((patch) => patch.path ?? [])]) {
      const resolved = path.join(folder, target);
      const wanted = target.endsWith('.yaml') ? resolved : path.join(resolved, 'kustomization.yaml');
      named.set(wanted, [...(named.get(wanted) ?? []), file]);
    }
  }
  return [
    ...[...named]
      .filter(([file]) => !files.includes(file))
      .map(([file, by]) => `${file}: named by ${by.join(', ')} and does not exist`),
    ...files.filter((file) => !isKustomization(file) && !named.has(file)).map((file) => `${file}: no kustomization names it`),
    ...files
      .filter((file) => named.get(file)?.some((by) => file.includes('/secrets/') && !by.includes('/secrets/')))
      .map((file) => `${file}: a deploy would overwrite the real Secret`),
  ];
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function merged(base: unknown, patch: unknown): unknown {
  if (!isMap(base) || !isMap(patch)) return patch;
  const keys = new Set([...Object.keys(base), ...Object.keys(patch)]);
  return Object.fromEntries([...keys].map((key) => [key, key in patch ? merged(base[key], patch[key]) : base[key]]));
}

/** The `remove` operation of JSON Patch (RFC 6902), the only one that the overlays use. */
function withoutPath(body: Record<string, unknown>, pointer: string): Record<string, unknown> {
  const copy = structuredClone(body);
  const [last = '', ...parents] = pointer.split('/').slice(1).reverse();
  const parent = parents.reverse().reduce<unknown>((at, key) => (isMap(at) ? at[key] : undefined), copy);
  if (!isMap(parent) || !(last in parent)) throw new Error(`nothing to remove at ${pointer}`);
  delete parent[last];
  return copy;
}

function patched(
  documents: KubeDocument[],
  folder: string,
  patch: NonNullable<Kustomization['patches']>[number],
): KubeDocument[] {
  if (patch.path) {
    return readKubeDocuments([path.join(folder, patch.path)]).reduce((all, change) => {
      if (!all.some((document) => labelOf(document) === labelOf(change)))
        throw new Error(`${change.file}: there is no ${labelOf(change)} to patch`);
      return all.map((document) =>
        labelOf(document) === labelOf(change)
          ? { ...document, body: merged(document.body, change.body) as Record<string, unknown> }
          : document,
      );
    }, documents);
  }
  const operations = parseYaml(folder, patch.patch ?? '')[0] as unknown as { op: string; path: string }[];
  return documents.map((document) => {
    if (document.kind !== patch.target?.kind || (patch.target.name && document.name !== patch.target.name)) return document;
    return operations.reduce((changed, { op, path: pointer }) => {
      if (op !== 'remove') throw new Error(`this test does not know the operation ${op}`);
      return { ...changed, body: withoutPath(changed.body, pointer) };
    }, document);
  });
}

interface Containers {
  spec: { template: { spec: { containers: { image: string }[] } } };
}

function withImages(documents: KubeDocument[], images: NonNullable<Kustomization['images']>): KubeDocument[] {
  const copy = structuredClone(documents);
  for (const workload of [...ofKind<Containers>(copy, 'Deployment'), ...ofKind<Containers>(copy, 'Job')]) {
    for (const container of workload.body.spec.template.spec.containers) {
      const [name, tag] = container.image.split(':');
      const image = images.find((candidate) => candidate.name === name);
      if (image) container.image = `${image.newName ?? name}:${image.newTag ?? tag}`;
    }
  }
  return copy;
}

/** The documents that `kubectl apply -k` would send. Supports only the kustomize fields that we use, and throws for any other field. */
export function renderKustomization(folder: string): KubeDocument[] {
  const { resources = [], components = [], patches = [], images = [] } = readKustomization(folder);
  let documents = resources.flatMap((resource) =>
    resource.endsWith('.yaml')
      ? readKubeDocuments([path.join(folder, resource)])
      : renderKustomization(path.join(folder, resource)),
  );
  for (const component of components)
    documents = withImages(documents, readKustomization(path.join(folder, component)).images ?? []);
  for (const patch of patches) documents = patched(documents, folder, patch);
  return withImages(documents, images);
}
