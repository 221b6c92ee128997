import { smallQueueScenarios } from './queue/catalogue.ts';
import { runQueueScenario } from './queue/run-queue-scenario.ts';

// The small waiting-room scenarios. waiting-room.heavy.ts runs all of them at full size.

test.each(smallQueueScenarios.map((scenario) => [scenario.title, scenario] as const))(
  '%s: positions are kept, and other fans are not affected',
  async (_title, scenario) => expect(await runQueueScenario(scenario)).toEqual([]),
  90_000,
);
