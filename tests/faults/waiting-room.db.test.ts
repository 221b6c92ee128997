import { smallQueueScenarios } from './queue/catalogue.ts';
import { perform } from './queue/performing.ts';

// The small ones; all of them, at full size, are the heavy suite (waiting-room.heavy.ts).

test.each(smallQueueScenarios.map((scenario) => [scenario.title, scenario] as const))(
  '%s: every place kept, the others unharmed',
  async (_title, scenario) => expect(await perform(scenario)).toEqual([]),
  90_000,
);
