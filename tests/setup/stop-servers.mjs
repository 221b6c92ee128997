// Jest's globalTeardown. A run that never gets here closes the same pipe by dying.
import { once } from 'node:events';

export default async function stopServers() {
  const servers = globalThis.tribinaTestServers;
  if (!servers || servers.exitCode !== null) return;
  const gone = once(servers, 'exit');
  servers.stdin.end();
  await gone;
}
