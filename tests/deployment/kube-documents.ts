import fs from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

/** One YAML document of k8s/ in the form that Kubernetes receives. */
export interface KubeDocument {
  file: string;
  apiVersion: string;
  kind: string;
  name: string;
  body: Record<string, unknown>;
}

/** A check of Kubernetes documents. Returns each violation as text, or an empty list. */
export type Rule = (documents: readonly KubeDocument[]) => string[];

/** Whether the file lists documents for kustomize, and is not a Kubernetes document itself. */
export const isKustomization = (file: string) => path.basename(file) === 'kustomization.yaml';

/** All YAML files in a folder and the folders below it. */
export function yamlFiles(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => path.join(folder, file))
    .sort();
}

/** Parses YAML. Throws for values such as `0440`, `on` and `1:30`, which YAML 1.1 (Kubernetes) and 1.2 (most editors) read differently. */
export function parseYaml(file: string, text: string): Record<string, unknown>[] {
  const [old, current] = (['1.1', '1.2'] as const).map((version) =>
    parseAllDocuments(text, { version }).map((document) => {
      const [fault] = document.errors;
      if (fault) throw new Error(`${file}: ${fault.message}`);
      return document.toJS() as Record<string, unknown>;
    }),
  );
  if (JSON.stringify(old) !== JSON.stringify(current))
    throw new Error(`${file}: YAML 1.1 and YAML 1.2 read this file differently`);
  return current ?? [];
}

/** All YAML documents in these files. */
export function readKubeDocuments(files: readonly string[]): KubeDocument[] {
  return files.flatMap((file) =>
    parseYaml(file, fs.readFileSync(file, 'utf8')).map((body) => ({
      file,
      apiVersion: String(body.apiVersion),
      kind: String(body.kind),
      name: String((body.metadata as { name?: string } | undefined)?.name),
      body,
    })),
  );
}

/** The name of a document in messages, such as `Deployment/monolith`. */
export const labelOf = (document: KubeDocument) => `${document.kind}/${document.name}`;

/** The documents of one kind, such as `Deployment`. `T` is the type of their bodies. */
export function ofKind<T>(documents: readonly KubeDocument[], kind: string): { label: string; name: string; body: T }[] {
  return documents
    .filter((document) => document.kind === kind)
    .map((document) => ({ label: labelOf(document), name: document.name, body: document.body as T }));
}

/** The documents except the one with this label, such as `Deployment/monolith`. */
export function withoutDocument(documents: readonly KubeDocument[], label: string): KubeDocument[] {
  return documents.filter((document) => labelOf(document) !== label);
}

/**
 * A copy of the documents in which one field of one document is changed. `at` is the path of the field, such as `spec.rules.0.host`;
 * the value undefined deletes the field.
 */
export function withChangedField(documents: readonly KubeDocument[], label: string, at: string, value: unknown): KubeDocument[] {
  const target = documents.find((document) => labelOf(document) === label);
  if (!target) throw new Error(`no ${label} to break`);
  const body = structuredClone(target.body);
  const steps = at.split('.');
  const last = String(steps.pop());
  const parent = steps.reduce<Record<string, unknown>>((node, step) => node[step] as Record<string, unknown>, body);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return documents.map((document) =>
    document === target ? { ...target, name: (body.metadata as { name: string }).name, body } : document,
  );
}
