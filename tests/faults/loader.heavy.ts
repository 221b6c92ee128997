import { loaderScenarios } from './loader/catalogue.ts';
import { runLoaderScenario } from './loader/run-loader-scenario.ts';

// `TRIBINA_SUITE=faults npm run jest -- tests/faults/loader`: runs the loader scenarios F20 (killed loaders) and F21 (bad sources) at
// full size, about two minutes.

test.each(loaderScenarios.map((scenario) => [scenario.title, scenario] as const))(
  'event loader, "%s": no event is lost or stored twice',
  async (_title, scenario) => expect((await runLoaderScenario(scenario)).faults).toEqual([]),
  180_000,
);
