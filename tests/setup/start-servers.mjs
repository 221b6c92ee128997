// Jest's globalSetup: starts one PostgreSQL server and one Redis server per Jest worker, for this run only (see
// tools/local/test-servers.ts). Workers cannot share a Redis server: pub/sub channels are not separated by Redis databases.
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
    servers.once('exit', () => reject(new Error('The test servers did not start; see their error output above.')));
  });
  const { database, redis } = JSON.parse(line);
  process.env.TEST_DATABASE_URL = database;
  process.env.TEST_REDIS_URL = redis[0];
  process.env.TEST_REDIS_URLS = redis.join(',');
  globalThis.tribinaTestServers = servers;
}
