import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));

/** Plain `jest` runs everything but the heavy suites; TRIBINA_SUITE=faults|simulation runs one of those. */
const suite = process.env.TRIBINA_SUITE;

/** Compiles TypeScript, with or without JSX. */
const compile = (syntax) => [
  '@swc/jest',
  {
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'es6' },
    jsc: {
      target: 'es2023',
      keepClassNames: true,
      // `with { type: 'json' }`, without which an import of JSON will be an error in Jest.
      experimental: { keepImportAttributes: true },
      parser: { syntax: 'typescript', decorators: true, ...syntax },
      transform: {
        legacyDecorator: true,
        decoratorMetadata: true,
        useDefineForClassFields: true,
        react: { runtime: 'automatic' },
      },
    },
  },
];

export default {
  rootDir: root,
  // As Node's own environment, and a file fails that leaves something open.
  testEnvironment: '<rootDir>/tests/setup/leak-checked-environment.mjs',
  globalSetup: '<rootDir>/tests/setup/start-servers.mjs',
  globalTeardown: '<rootDir>/tests/setup/stop-servers.mjs',
  roots: suite
    ? [`<rootDir>/tests/${suite}`]
    : ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tests', '<rootDir>/tools', '<rootDir>/bench'],
  testRegex: suite ? '\\.heavy\\.ts$' : '\\.test\\.tsx?$',
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '/tests/canaries/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.tribina/'],
  // So that --findRelatedTests and --changedSince find the tests of a file that is imported as `#…`, and of a Lua script.
  dependencyExtractor: '<rootDir>/tests/setup/dependency-extractor.mjs',
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'tsx', 'json', 'node', 'lua'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: { '^.+\\.ts$': compile({}), '^.+\\.tsx$': compile({ tsx: true }) },
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  // One more than a small machine has cores: the tests wait for servers and clocks half of the time. On 2 cores the twelve slowest
  // database files took 117 s with three workers and 146 s with two.
  maxWorkers: 3,
  workerIdleMemoryLimit: '512MB',
  // On a busy machine the default of 0.5 s is too short for a worker that leaks nothing.
  workerGracefulExitTimeout: 10_000,
  testTimeout: 30_000,
};
