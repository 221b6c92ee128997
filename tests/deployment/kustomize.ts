import fs from 'node:fs';
import path from 'node:path';
import type { KubeDocument } from './kube-documents.ts';
import { isKustomization, labelOf, ofKind, parseYaml, readKubeDocuments, yamlFiles } from './kube-documents.ts';

interface Patch {
  path?: string;
  target?: { kind: string; name?: string };
  patch?: string;
}
interface Operation {
  op: string;
  path: string;
  value?: unknown;
}
interface Kustomization {
  namespace?: string;
  resources?: string[];
  components?: string[];
  patches?: Patch[];
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

/** The folder and all folders that its kustomization uses, directly or not. */
export function usedKustomizations(folder: string): string[] {
  const { resources = [], components = [] } = readKustomization(folder);
  const folders = [...resources, ...components].filter((target) => !target.endsWith('.yaml'));
  return [folder, ...folders.flatMap((target) => usedKustomizations(path.join(folder, target)))];
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

/** A strategic merge: null deletes a field, and a list replaces a list. */
function merged(base: unknown, patch: unknown): unknown {
  if (!isMap(base) || !isMap(patch)) return patch;
  const keys = new Set([...Object.keys(base), ...Object.keys(patch)]);
  return Object.fromEntries(
    [...keys].filter((key) => patch[key] !== null).map((key) => [key, key in patch ? merged(base[key], patch[key]) : base[key]]),
  );
}

/** One operation of JSON Patch (RFC 6902): `remove` and `replace` of a field, `add` of a field or at the end of a list. */
function operated(body: Record<string, unknown>, { op, path: pointer, value }: Operation): Record<string, unknown> {
  const copy = structuredClone(body);
  const [last = '', ...parents] = pointer.split('/').slice(1).reverse();
  const parent = parents
    .reverse()
    .reduce<unknown>((at, key) => (isMap(at) || Array.isArray(at) ? (at as Record<string, unknown>)[key] : undefined), copy);
  if (op === 'add' && Array.isArray(parent) && last === '-') parent.push(value);
  else if (op === 'add' && isMap(parent)) parent[last] = value;
  else if (!['remove', 'replace', 'add'].includes(op)) throw new Error(`this test does not know the operation ${op}`);
  else if (!isMap(parent) || !(last in parent)) throw new Error(`nothing to ${op} at ${pointer}`);
  else if (op === 'remove') delete parent[last];
  else parent[last] = value;
  return copy;
}

/** Whether kustomize applies the patch to the document: it takes the name as a regular expression for the whole name. */
const isTarget = ({ kind, name }: KubeDocument, target: Patch['target']) =>
  kind === target?.kind && (target.name === undefined || new RegExp(`^(${target.name})$`).test(name));

function patched(documents: KubeDocument[], folder: string, patch: Patch): KubeDocument[] {
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
  const [change] = parseYaml(folder, patch.patch ?? '') as unknown as [Operation[] | { $patch: string }];
  if (!Array.isArray(change)) {
    if (change.$patch !== 'delete') throw new Error(`${folder}: this test does not know the patch ${JSON.stringify(change)}`);
    return documents.filter((document) => !isTarget(document, patch.target));
  }
  return documents.map((document) =>
    isTarget(document, patch.target) ? { ...document, body: change.reduce(operated, document.body) } : document,
  );
}

interface Containers {
  spec: { template: { spec: { containers: { image: string }[] } } };
}

function withImages(documents: KubeDocument[], images: NonNullable<Kustomization['images']>): KubeDocument[] {
  const copy = structuredClone(documents);
  for (const workload of ['Deployment', 'Job', 'StatefulSet'].flatMap((kind) => ofKind<Containers>(copy, kind))) {
    for (const container of workload.body.spec.template.spec.containers) {
      const [name, tag] = container.image.split(':');
      const image = images.find((candidate) => candidate.name === name);
      if (image) container.image = `${image.newName ?? name}:${image.newTag ?? tag}`;
    }
  }
  return copy;
}

function withNamespace(documents: KubeDocument[], namespace: string | undefined): KubeDocument[] {
  if (namespace === undefined) return documents;
  return documents.map((document) =>
    document.kind === 'Namespace'
      ? document
      : { ...document, body: { ...document.body, metadata: { ...(document.body.metadata as object), namespace } } },
  );
}

/**
 * The documents that `kubectl apply -k` would send. Supports only the kustomize fields that we use, and throws for any other field.
 * A component changes the documents `before`, those of the kustomization that names it.
 */
export function renderKustomization(folder: string, before: readonly KubeDocument[] = []): KubeDocument[] {
  const { resources = [], components = [], patches = [], images = [], namespace } = readKustomization(folder);
  let documents = [
    ...before,
    ...resources.flatMap((resource) =>
      resource.endsWith('.yaml')
        ? readKubeDocuments([path.join(folder, resource)])
        : renderKustomization(path.join(folder, resource)),
    ),
  ];
  for (const component of components) documents = renderKustomization(path.join(folder, component), documents);
  for (const patch of patches) documents = patched(documents, folder, patch);
  return withNamespace(withImages(documents, images), namespace);
}
