// Jest's globalTeardown: closes the stdin of the test servers, which makes them stop. If Jest dies, the operating system closes the pipe.
import { once } from 'node:events';

export default async function stopServers() {
  const servers = globalThis.tribinaTestServers;
  if (!servers || servers.exitCode !== null) return;
  const exited = once(servers, 'exit');
  servers.stdin.end();
  await exited;
}
