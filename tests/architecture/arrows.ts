import { locationOf, type CodeLocation } from './code-locations.ts';
import { target, type SourceFile } from './sources.ts';

/** One sentence about who may import whom. */
export interface Arrow {
  readonly sentence: string;
  readonly forbids: (from: CodeLocation, to: CodeLocation) => boolean;
}

const isApp = (name: string) => (place: CodeLocation) => place.area === 'app' && place.app === name;
const isWeb = isApp('web');
/** Within one server app; the page is arranged by its own rules. */
const inOneApp = (from: CodeLocation, to: CodeLocation): boolean =>
  from.area === 'app' && to.area === 'app' && from.app === to.app && !isWeb(from);
const pure: readonly CodeLocation['area'][] = ['domain', 'application', 'contracts'];

/**
 * The features of `purchase`, from the bottom up: each with the others it may import. All of them may import what they share
 * (`purchase/application/ports.ts`), and the context may import all of them.
 */
export const purchaseFeatures: Readonly<Record<string, readonly string[]>> = {
  availability: [],
  turns: [],
  hold: ['availability', 'turns'],
  'partner-sales': ['hold'],
  checkout: ['hold'],
  settlement: ['turns', 'hold', 'checkout'],
  refunds: ['hold', 'checkout', 'settlement'],
};

/** What a context may take from the root of its app. */
const rootOffers = /\/src\/(config|tokens|parts)\.ts$/;

export const arrows: readonly Arrow[] = [
  {
    sentence: 'the domain imports nothing outside itself',
    forbids: (from, to) => from.area === 'domain' && to.area !== 'domain',
  },
  {
    sentence: 'a context of the domain knows no other, and what they share knows none',
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
    sentence: 'of the event loader an app sees the adapters alone',
    forbids: (from, to) =>
      from.area === 'app' && from.layer !== 'tests' && to.area === 'event-loader' && to.context !== 'adapters',
  },
  { sentence: 'a library never imports an app', forbids: (from, to) => from.area !== 'app' && to.area === 'app' },
  {
    sentence: 'an app never imports another',
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
    sentence: 'the page shares nothing with the servers but libs/contracts and libs/queue-client',
    forbids: (from, to) =>
      isWeb(from) && (to.path.startsWith('package:node:') || !['app', 'contracts', 'queue-client', 'package'].includes(to.area)),
  },
  {
    sentence:
      'a context is reached through its x.api.ts alone; the command line may also use its module and x.sql.ts, a module other modules',
    forbids: (from, to) => {
      if (!inOneApp(from, to) || !from.context || !to.context || from.context === to.context || to.layer === 'api') return false;
      // A part of the command line that has grown a folder of its own.
      if (from.context === 'cli' && to.context === 'verify') return false;
      if (from.context === 'cli' && to.layer === 'sql') return false;
      return !(to.layer === 'module' && (from.layer === 'module' || from.context === 'cli'));
    },
  },
  {
    sentence: 'a context takes from the root of its app its settings and tokens, and a use case not even those',
    forbids: (from, to) => {
      if (!inOneApp(from, to) || !from.context || from.context === 'cli' || to.context) return false;
      return from.layer === 'application' || from.layer === 'api' || !rootOffers.test(to.path);
    },
  },
  {
    sentence: 'the rules of a context, in its folder domain, import each other and what libs/domain shares',
    forbids: (from, to) => {
      if (from.area !== 'app' || from.layer !== 'domain') return false;
      if (to.area === 'domain') return to.context !== 'shared';
      return !(inOneApp(from, to) && from.context === to.context && to.layer === 'domain');
    },
  },
  {
    sentence: 'a use case imports the domain, libs/application, the rules, use cases and ports of its context, and its x.api.ts',
    forbids: (from, to) => {
      if (from.area !== 'app' || from.layer !== 'application') return false;
      if (to.area === 'domain' || to.area === 'application') return false;
      return !(inOneApp(from, to) && from.context === to.context && ['domain', 'application', 'api'].includes(to.layer));
    },
  },
  {
    sentence: 'a feature of purchase imports the features below it, and of the context what all of them share',
    forbids: (from, to) => {
      if (!inOneApp(from, to) || from.context !== 'purchase' || to.context !== 'purchase') return false;
      if (!from.feature || from.layer === 'tests' || from.feature === to.feature) return false;
      if (!to.feature) return !['application', 'api', 'sql'].includes(to.layer);
      return !purchaseFeatures[from.feature]?.includes(to.feature);
    },
  },
  {
    sentence: 'inbound does not see outbound',
    forbids: (from, to) => inOneApp(from, to) && from.layer === 'inbound' && to.layer === 'outbound',
  },
  {
    sentence: 'outbound sees ports and readers, no use case and nothing inbound',
    forbids: (from, to) => {
      if (!inOneApp(from, to) || from.layer !== 'outbound') return false;
      return to.layer === 'inbound' || (to.layer === 'application' && !/\/(ports|[\w-]+-(ports|reader))\.ts$/.test(to.path));
    },
  },
  {
    sentence: 'an x.api.ts is as pure as the domain',
    forbids: (from, to) => from.area === 'app' && from.layer === 'api' && !pure.includes(to.area),
  },
  {
    sentence: 'production does not import tests',
    forbids: (from, to) =>
      from.layer !== 'tests' && (to.layer === 'tests' || to.area === 'testing' || /^(tests|bench)\//.test(to.path)),
  },
];

/** Every import that goes against an arrow, with the sentence it breaks. */
export function breaches(files: readonly Pick<SourceFile, 'path' | 'imports'>[]): string[] {
  return files.flatMap((file) => {
    const from = locationOf(file.path);
    return file.imports.flatMap((specifier) => {
      const to = locationOf(target(file.path, specifier));
      const broken = arrows.filter(({ forbids }) => forbids(from, to));
      return broken.map(({ sentence }) => `${file.path} → ${to.path}: ${sentence}`);
    });
  });
}
