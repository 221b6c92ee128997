import { queueScenarios } from './queue/catalogue.ts';
import { runQueueScenario } from './queue/run-queue-scenario.ts';

// `TRIBINA_SUITE=faults npm run jest -- tests/faults/waiting-room.heavy`: runs the waiting-room scenarios F22, F26, F27, F28 and F30 at
// full size, about six minutes.

test.each(queueScenarios.map((scenario) => [scenario.title, scenario] as const))(
  'waiting room, "%s": positions are kept, and other fans are not affected',
  async (_title, scenario) => expect(await runQueueScenario(scenario)).toEqual([]),
  300_000,
);
