import { queueScenarios } from './queue/catalogue.ts';
import { perform } from './queue/performing.ts';

// `TRIBINA_SUITE=faults npm run jest -- tests/faults/waiting-room.heavy`: F22, F26, F27, F28 and F30 at their full size, six minutes.

test.each(queueScenarios.map((scenario) => [scenario.title, scenario] as const))(
  '%s: every place kept, the others unharmed',
  async (_title, scenario) => expect(await perform(scenario)).toEqual([]),
  300_000,
);
