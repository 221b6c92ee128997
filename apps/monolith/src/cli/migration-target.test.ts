import { ConfigFaults } from '#platform/config/load-config';
import { migrationTarget } from './environment.ts';

const owner = 'postgres://tribina_owner:a@127.0.0.1:5/tribina';
const services = 'postgres://tribina_services:b%40@127.0.0.1:5/tribina';

function faultsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    migrationTarget(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigFaults) return error.faults;
    throw error;
  }
}

test('migrate connects as the owner and grants rights to the user of DATABASE_URL, also in production', () => {
  const env = { DATABASE_URL: services, DATABASE_MIGRATION_URL: owner };
  const target = { ownerUrl: owner, services: { user: 'tribina_services', password: 'b@', hasJobs: false }, warnings: [] };
  expect(migrationTarget(env)).toEqual(target);
  expect(migrationTarget({ ...env, NODE_ENV: 'production' })).toEqual(target);
  expect(migrationTarget({ ...env, JOBS_TRANSPORT: 'postgres' }).services.hasJobs).toBe(true);
});

test('without DATABASE_MIGRATION_URL migrate uses DATABASE_URL with a warning, and in production it refuses', () => {
  for (const unset of [{}, { DATABASE_MIGRATION_URL: '' }]) {
    const { ownerUrl, warnings } = migrationTarget({ DATABASE_URL: services, ...unset });
    expect([ownerUrl, warnings]).toEqual([services, [expect.stringMatching(/^DATABASE_MIGRATION_URL: is not set/)]]);
    expect(faultsOf({ DATABASE_URL: services, ...unset, NODE_ENV: 'production' })).toEqual(warnings);
  }
});

test('migrate warns if the owner and the services are one user, and refuses a URL without a user', () => {
  expect(migrationTarget({ DATABASE_URL: services, DATABASE_MIGRATION_URL: services }).warnings).toEqual([
    expect.stringMatching(/^DATABASE_MIGRATION_URL: names the user of DATABASE_URL/),
  ]);
  expect(faultsOf({ DATABASE_URL: 'postgres://127.0.0.1/tribina', DATABASE_MIGRATION_URL: owner })).toEqual([
    expect.stringMatching(/^DATABASE_URL: names no user/),
  ]);
});
