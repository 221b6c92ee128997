import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './build.ts';
import { INSPECTOR_PORTS, inspectorArguments, readInspectorPorts } from './inspector.ts';
import { readSettings } from './settings.ts';

test('each service has an inspector port of its own', () => {
  expect([...INSPECTOR_PORTS.keys()]).toEqual(readSettings({}).services.map(({ name }) => name));
  expect(new Set(INSPECTOR_PORTS.values()).size).toBe(3);
});

test('--inspect takes several services, each with a port if wanted', () => {
  expect([...readInspectorPorts(['monolith', 'queue-service:9300'])]).toEqual([
    ['monolith', 9229],
    ['queue-service', 9300],
  ]);
  expect([...readInspectorPorts([])]).toEqual([]);
});

test.each([
  ['worker', '--inspect: there is no service "worker". The services are monolith, queue-service, notification-worker.'],
  ['', '--inspect: there is no service "". The services are monolith, queue-service, notification-worker.'],
  ['constructor', '--inspect: there is no service "constructor". The services are monolith, queue-service, notification-worker.'],
  ['monolith:', '--inspect: "" is no port. A port is a whole number from 1 to 65535.'],
  ['monolith:0', '--inspect: "0" is no port. A port is a whole number from 1 to 65535.'],
  ['monolith:65536', '--inspect: "65536" is no port. A port is a whole number from 1 to 65535.'],
  ['monolith:0.0.0.0', '--inspect: "0.0.0.0" is no port. A port is a whole number from 1 to 65535.'],
])('--inspect %j is refused with exit code 2', (value, text) => {
  const [problem, whatToDo] = [text.slice(0, text.indexOf('. ') + 1), text.slice(text.indexOf('. ') + 2)];
  expect(() => readInspectorPorts([value])).toThrow(
    expect.objectContaining({ message: problem, whatToDo, exitCode: 2 }) as unknown as Error,
  );
});

test('the inspector listens on 127.0.0.1 only, whatever address the service listens on', () => {
  expect(inspectorArguments(9229)).toEqual(['--inspect=127.0.0.1:9229']);
  expect(inspectorArguments(undefined)).toEqual([]);
});

test('.vscode/launch.json attaches to the inspector port of each service', () => {
  const { configurations } = JSON.parse(readFileSync(path.join(ROOT, '.vscode/launch.json'), 'utf8')) as {
    configurations: { name: string; request: string; address?: string; port?: number }[];
  };
  const attached = configurations.filter(({ request }) => request === 'attach');
  expect(attached.map(({ name, address, port }) => [name, address, port])).toEqual(
    [...INSPECTOR_PORTS].map(([name, port]) => [`attach to ${name}`, '127.0.0.1', port]),
  );
});
