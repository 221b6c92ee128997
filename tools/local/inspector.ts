import { isPort } from './free-port.ts';
import { UserError } from './trouble.ts';

/** The inspector's port of each service, unless --inspect names another. .vscode/launch.json attaches to these ports. */
export const INSPECTOR_PORTS: ReadonlyMap<string, number> = new Map([
  ['monolith', 9229],
  ['queue-service', 9230],
  ['notification-worker', 9231],
]);

/** Reads the values of --inspect, `monolith` or `monolith:9300`. Returns the inspector's port of each named service. */
export function readInspectorPorts(values: readonly string[]): Map<string, number> {
  return new Map(
    values.map((value) => {
      const [name = '', port] = value.split(':');
      const defaultPort = INSPECTOR_PORTS.get(name);
      if (!defaultPort)
        throw new UserError(
          `--inspect: there is no service "${name}".`,
          `The services are ${[...INSPECTOR_PORTS.keys()].join(', ')}.`,
          2,
        );
      if (port !== undefined && !isPort(port))
        throw new UserError(`--inspect: "${port}" is no port.`, 'A port is a whole number from 1 to 65535.', 2);
      return [name, port ? Number(port) : defaultPort];
    }),
  );
}

/** Node's argument for the inspector. A client of the inspector controls the process, so it listens on this machine only. */
export function inspectorArguments(port: number | undefined): string[] {
  return port === undefined ? [] : [`--inspect=127.0.0.1:${port}`];
}
