// Jest's globalSetup: a PostgreSQL and one Redis per worker for this run only (see tools/local/test-servers.ts).
// One Redis a worker and not one database in a common one, because channels are heard across databases.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

const script = path.resolve(import.meta.dirname, '../../tools/local/test-servers.ts');

export default async function startServers(globalConfig) {
  const servers = spawn(process.execPath, [script, String(globalConfig.maxWorkers)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: servers.stdout }).once('line', resolve);
    servers.once('error', reject);
    servers.once('exit', () => reject(new Error('The test servers did not start; the reason stands above.')));
  });
  const { database, redis } = JSON.parse(line);
  process.env.TEST_DATABASE_URL = database;
  process.env.TEST_REDIS_URL = redis[0];
  process.env.TEST_REDIS_URLS = redis.join(',');
  globalThis.tribinaTestServers = servers;
}
