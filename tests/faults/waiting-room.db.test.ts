import { smallQueueScenarios } from './queue/catalogue.ts';
import { runQueueScenario } from './queue/run-queue-scenario.ts';

// The small fault scenarios of the waiting room. waiting-room.heavy.ts runs all scenarios at full size.

test.each(smallQueueScenarios.map((scenario) => [scenario.title, scenario] as const))(
  'waiting room, "%s": positions are kept, and other fans are not affected',
  async (_title, scenario) => expect(await runQueueScenario(scenario)).toEqual([]),
  90_000,
);
