import fs from 'node:fs';
import path from 'node:path';

type Instruction = readonly [name: string, rest: string];

/** The instructions of a Dockerfile, one list for each build stage, without comments and with continued lines joined. */
export function parseDockerfile(text: string): Instruction[][] {
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Instruction[][] = [[]];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push([name, rest]);
  }
  return stages;
}

const SERVICES = ['apps/monolith/src', 'apps/queue-service/src', 'apps/notification-worker/src'];

function filesBelow(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/**
 * Files that the services read at run time and that the compiler does not produce, such as .sql and .lua. The image must copy them.
 * JSON is imported, and the compiler copies it, except the policies: they are read by name.
 */
export function runtimeAssets(): string[] {
  const libraries = fs.readdirSync('libs').map((library) => `libs/${library}/src`);
  const compiled = [...SERVICES, ...libraries, 'migrations'].flatMap(filesBelow);
  return [...compiled.filter((file) => !/\.(ts|json|md)$/.test(file)), ...filesBelow('policies')];
}

/** Facts of the project that the Dockerfile is compared with. */
export interface ImageFacts {
  settings: ReadonlySet<string>;
  ports: Readonly<Record<string, number>>;
  assets: readonly string[];
  exists: (file: string) => boolean;
}

/** Faults of the image that this Dockerfile builds. */
export function dockerfileViolations(text: string, { settings, ports, assets, exists }: ImageFacts): string[] {
  const stages = parseDockerfile(text);
  const all = stages.flat();
  const finalStage = stages.at(-1) ?? [];
  const inFinalStage = (name: string) => finalStage.filter(([instruction]) => instruction === name).map(([, rest]) => rest);
  const runs = all.filter(([name]) => name === 'RUN').map(([, rest]) => rest);
  const installs = runs.filter((run) => run.startsWith('npm '));
  const patterns = [...text.matchAll(/-name '\*(\.\w+)'/g)].map((match) => match[1]);
  const entry = /"(dist\/[^"]+)\.js"/.exec(inFinalStage('CMD').join())?.[1] ?? '';
  const variables = all
    .filter(([name]) => name === 'ENV')
    .flatMap(([, rest]) => [...rest.matchAll(/(\w+)=/g)].map((match) => String(match[1])));
  const fromContext = all
    .filter(([name, rest]) => name === 'COPY' && !rest.includes('--from='))
    .flatMap(([, rest]) => rest.split(/\s+/).slice(0, -1));
  const rules: [boolean, string][] = [
    [
      stages.slice(1).every(([from]) => from?.[1].startsWith('${NODE_IMAGE}')) && /^ARG NODE_IMAGE=node:24-/m.test(text),
      'a stage is not built on Node 24',
    ],
    [/^[1-9]\d*(:[1-9]\d*)?$/.test(inFinalStage('USER').join()), 'runs as root, or as a name that Kubernetes cannot check'],
    [inFinalStage('HEALTHCHECK').length === 0, 'has a HEALTHCHECK, which fits one of the three services at most'],
    [inFinalStage('ENV').includes('BIND_HOST=0.0.0.0'), 'listens on 127.0.0.1 inside the container'],
    [
      inFinalStage('ENV').includes('NODE_ENV=production') && variables.filter((name) => name === 'NODE_ENV').length === 1,
      // In the build stage, NODE_ENV=production would leave out the packages that the build needs.
      'does not run in production mode, or builds in it',
    ],
    [inFinalStage('RUN').length === 0, 'runs commands in the final stage'],
    [
      installs.filter((run) => run.startsWith('npm ci')).every((run) => run.includes('--ignore-scripts')) &&
        installs.every((run) => !run.startsWith('npm install')),
      'lets packages run install scripts',
    ],
    [installs.some((run) => run.includes('--omit=dev') && run.includes('--omit=optional')), 'carries development dependencies'],
    [exists(`${entry.replace(/^dist\//, '')}.ts`), `starts ${entry}.js, which nothing builds`],
    [inFinalStage('EXPOSE').join() === Object.values(ports).join(' '), 'does not expose the three ports'],
  ];
  return [
    ...rules.filter(([holds]) => !holds).map(([, complaint]) => `Dockerfile: ${complaint}`),
    ...variables.filter((name) => !settings.has(name)).map((name) => `Dockerfile: ${name} is not a setting`),
    ...fromContext.filter((file) => !exists(file)).map((file) => `Dockerfile: copies ${file}, which does not exist`),
    ...assets.filter((file) => !patterns.includes(path.extname(file))).map((file) => `Dockerfile: leaves out ${file}`),
  ];
}

/** Faults of .dockerignore: entries that it lacks, such as `.env`, and files in `needed` that it ignores. */
export function dockerignoreViolations(text: string, needed: readonly string[]): string[] {
  const ignored = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const notIgnored = ['.git', '.env', '.tribina', '**/node_modules', 'dist'].filter((entry) => !ignored.includes(entry));
  const missing = needed.filter((file) => ignored.some((entry) => file === entry || file.startsWith(`${entry}/`)));
  return [
    ...notIgnored.map((entry) => `.dockerignore: lets ${entry} in`),
    ...missing.map((file) => `.dockerignore: keeps out ${file}`),
  ];
}
