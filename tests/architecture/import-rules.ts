import { locationOf, type CodeLocation } from './code-locations.ts';
import { resolveImport, type SourceFile } from './sources.ts';

/** One rule about which file may import which. `sentence` is shown when an import breaks the rule. */
export interface ImportRule {
  readonly sentence: string;
  /** `specifier` is the import as it is written, such as `../ports.ts` or `#platform/ids`. */
  readonly forbids: (from: CodeLocation, to: CodeLocation, specifier: string) => boolean;
}

const isApp = (name: string) => (location: CodeLocation) => location.area === 'app' && location.app === name;
const isWeb = isApp('web');
/** Whether both files belong to the same server app. apps/web has other folders, so the rules about layers do not apply to it. */
const inSameServerApp = (from: CodeLocation, to: CodeLocation): boolean =>
  from.area === 'app' && to.area === 'app' && from.app === to.app && !isWeb(from);
const pureAreas: readonly CodeLocation['area'][] = ['domain', 'application', 'contracts'];

/**
 * The features of `purchase`, from the bottom up, each with the features it may import. Every feature may import
 * `purchase/application/ports.ts`, which all features share. Files of `purchase` outside the features may import all features.
 */
export const purchaseFeatures: Readonly<Record<string, readonly string[]>> = {
  availability: [],
  turns: [],
  hold: ['availability', 'turns'],
  'partner-sales': ['hold'],
  checkout: ['hold'],
  'quota-places': ['availability', 'hold', 'checkout'],
  settlement: ['turns', 'hold', 'checkout'],
  refunds: ['hold', 'checkout', 'settlement'],
};

/** Files in the root of an app that its contexts may import. */
const importableRootFiles = /\/src\/(config|tokens|parts)\.ts$/;

/** The rules about imports between areas, contexts, features and layers. Every production file must keep all of them. */
export const importRules: readonly ImportRule[] = [
  {
    sentence: 'libs/domain imports nothing outside itself',
    forbids: (from, to) => from.area === 'domain' && to.area !== 'domain',
  },
  {
    sentence: 'a context folder of libs/domain imports only itself and shared, and shared imports only itself',
    forbids: (from, to) =>
      from.area === 'domain' && to.area === 'domain' && to.context !== from.context && to.context !== 'shared',
  },
  {
    sentence: 'libs/application imports the domain and itself',
    forbids: (from, to) => from.area === 'application' && to.area !== 'application' && to.area !== 'domain',
  },
  {
    sentence: 'libs/contracts imports zod, the domain and itself',
    forbids: (from, to) =>
      from.area === 'contracts' && to.path !== 'package:zod' && to.area !== 'domain' && to.area !== 'contracts',
  },
  {
    sentence: 'the core of the event loader imports nothing outside itself',
    forbids: (from, to) =>
      from.area === 'event-loader' &&
      from.context === 'core' &&
      from.layer !== 'tests' &&
      (to.area !== from.area || to.context !== 'core'),
  },
  {
    sentence: 'an app imports only the adapters of the event loader',
    forbids: (from, to) =>
      from.area === 'app' && from.layer !== 'tests' && to.area === 'event-loader' && to.context !== 'adapters',
  },
  {
    sentence: 'libs/platform imports only the pure libraries, npm packages and itself',
    forbids: (from, to) =>
      from.area === 'platform' && from.layer !== 'tests' && ![...pureAreas, 'platform', 'package'].includes(to.area),
  },
  {
    sentence: 'libs/messaging imports only the pure libraries, libs/platform, npm packages and itself',
    forbids: (from, to) =>
      from.area === 'messaging' &&
      from.layer !== 'tests' &&
      ![...pureAreas, 'platform', 'messaging', 'package'].includes(to.area),
  },
  {
    sentence: 'libs/ticketing draws documents and reads ticket keys: it imports only the domain, npm packages and itself',
    forbids: (from, to) =>
      from.area === 'ticketing' && from.layer !== 'tests' && !['ticketing', 'domain', 'package'].includes(to.area),
  },
  { sentence: 'a library never imports an app', forbids: (from, to) => from.area !== 'app' && to.area === 'app' },
  {
    sentence: 'an app never imports another app',
    forbids: (from, to) => from.area === 'app' && to.area === 'app' && from.app !== to.app,
  },
  {
    sentence: 'libs/queue-client, which runs in browsers, imports libs/contracts and itself',
    forbids: (from, to) =>
      from.area === 'queue-client' &&
      from.layer !== 'tests' &&
      !['contracts', 'queue-client'].includes(to.area) &&
      to.path !== 'package:zod',
  },
  {
    sentence: 'apps/web imports only npm packages, libs/contracts, libs/queue-client and its own files',
    forbids: (from, to) =>
      isWeb(from) && (to.path.startsWith('package:node:') || !['app', 'contracts', 'queue-client', 'package'].includes(to.area)),
  },
  {
    sentence: 'a context imports only the x.api.ts of another context; modules and the command line may also import its module',
    forbids: (from, to) => {
      if (!inSameServerApp(from, to) || !from.context || !to.context || from.context === to.context || to.layer === 'api')
        return false;
      // `cli` may import `verify`, a part of the command line that has its own folder.
      if (from.context === 'cli' && to.context === 'verify') return false;
      return !(to.layer === 'module' && (from.layer === 'module' || from.context === 'cli'));
    },
  },
  {
    sentence: 'a context imports only config, tokens and parts from the root of its app, and a use case not even those',
    forbids: (from, to) => {
      if (!inSameServerApp(from, to) || !from.context || from.context === 'cli' || to.context) return false;
      return from.layer === 'application' || from.layer === 'api' || !importableRootFiles.test(to.path);
    },
  },
  {
    sentence: 'the domain folder of a context imports only itself and the shared folder of libs/domain',
    forbids: (from, to) => {
      if (from.area !== 'app' || from.layer !== 'domain') return false;
      if (to.area === 'domain') return to.context !== 'shared';
      return !(inSameServerApp(from, to) && from.context === to.context && to.layer === 'domain');
    },
  },
  {
    sentence: 'a use case imports only libs/domain, libs/application, and the domain, application and x.api.ts of its context',
    forbids: (from, to) => {
      if (from.area !== 'app' || from.layer !== 'application') return false;
      if (to.area === 'domain' || to.area === 'application') return false;
      return !(inSameServerApp(from, to) && from.context === to.context && ['domain', 'application', 'api'].includes(to.layer));
    },
  },
  {
    sentence: 'the application folder that the features of a context share imports no feature',
    forbids: (from, to) => inSameServerApp(from, to) && from.layer === 'application' && !from.feature && to.feature !== undefined,
  },
  {
    sentence: 'a feature of purchase imports only the features below it, and the ports and x.api.ts of the context',
    forbids: (from, to) => {
      if (!inSameServerApp(from, to) || from.context !== 'purchase' || to.context !== 'purchase') return false;
      if (!from.feature || from.layer === 'tests' || from.feature === to.feature) return false;
      if (!to.feature) return !['application', 'api'].includes(to.layer);
      return !purchaseFeatures[from.feature]?.includes(to.feature);
    },
  },
  {
    sentence: 'inbound never imports outbound',
    forbids: (from, to) => inSameServerApp(from, to) && from.layer === 'inbound' && to.layer === 'outbound',
  },
  {
    sentence: 'outbound imports ports and readers, but no use case and nothing from inbound',
    forbids: (from, to) => {
      if (!inSameServerApp(from, to) || from.layer !== 'outbound') return false;
      return to.layer === 'inbound' || (to.layer === 'application' && !/\/(ports|[\w-]+-(ports|reader))\.ts$/.test(to.path));
    },
  },
  {
    sentence: 'in a context without layers only the module imports controllers, listeners and schedules',
    forbids: (from, to) =>
      inSameServerApp(from, to) &&
      from.context === to.context &&
      from.layer === 'other' &&
      !from.path.endsWith('.providers.ts') &&
      /\.(controller|listener|schedule)\.ts$/.test(to.path),
  },
  {
    sentence: 'an x.api.ts imports only libs/domain, libs/application and libs/contracts',
    forbids: (from, to) => from.area === 'app' && from.layer === 'api' && !pureAreas.includes(to.area),
  },
  {
    sentence: 'server code imports another library by its name, such as #platform/ids, never by its path',
    forbids: (from, to, specifier) =>
      !isWeb(from) && from.area !== 'queue-client' && specifier.startsWith('.') && to.area !== from.area,
  },
  {
    sentence: 'production code imports only npm packages and production code of apps and libs: no test code, no tools',
    forbids: (from, to) => from.layer !== 'tests' && (to.layer === 'tests' || ['testing', 'elsewhere'].includes(to.area)),
  },
];

/** Every import in these files that breaks a rule: file and line, the imported file and the sentence of the broken rule. */
export function importViolations(files: readonly Pick<SourceFile, 'path' | 'imports'>[]): string[] {
  return files.flatMap((file) => {
    const from = locationOf(file.path);
    return file.imports.flatMap(({ specifier, line }) => {
      const to = locationOf(resolveImport(file.path, specifier));
      const broken = importRules.filter(({ forbids }) => forbids(from, to, specifier));
      return broken.map(({ sentence }) => `${file.path}:${line} imports ${to.path}: ${sentence}`);
    });
  });
}
