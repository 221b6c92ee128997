import { loaderScenarios } from './loader/catalogue.ts';
import { perform } from './loader/performing.ts';

// `TRIBINA_SUITE=faults npm run jest -- tests/faults/loader`: F20 and F21 at their full size, two minutes.

test.each(loaderScenarios.map((scenario) => [scenario.title, scenario] as const))(
  '%s: nothing lost, nothing twice',
  async (_title, scenario) => expect((await perform(scenario)).faults).toEqual([]),
  180_000,
);
