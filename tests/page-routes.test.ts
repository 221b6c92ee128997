import { z } from 'zod';
import { pageRoutes } from '#contracts/page-routes';
import {
  controllersWithSchemas,
  routesUnlikeThePage,
  routesUnlikeTheServer,
  runTimeImportsOfContracts,
} from './architecture/page-routes.ts';
import { allRoutes, type RouteFact } from './architecture/routes.ts';
import { productionSources } from './architecture/sources.ts';

// The page's client takes its paths and types from `pageRoutes` in libs/contracts. The compiler checks the client against that
// table; these tests check the table against the services.

const sources = productionSources();

test('each route of the page is a route of a service, with the same schemas of query, body and answer', async () => {
  expect(routesUnlikeTheServer(pageRoutes, await allRoutes())).toEqual([]);
});

test('the page calls each route of the table, and no other path of the API', () => {
  expect(routesUnlikeThePage(pageRoutes, sources)).toEqual([]);
});

test('no controller declares a schema: libs/contracts does', () => {
  expect(controllersWithSchemas(sources)).toEqual([]);
});

test('the page imports only types from libs/contracts', () => {
  expect(runTimeImportsOfContracts(sources)).toEqual([]);
});

const [query, body, answer, other] = [z.object({}), z.object({}), z.object({}), z.object({})];
const served: RouteFact = {
  ...{ app: 'monolith', route: 'POST /api/v1/things', method: 'POST', rules: {}, storesAnswers: true },
  schemas: { query, body, answers: [answer, answer] },
};

test.each([
  ['a route that no service has', { 'GET /api/v1/things': { answer } }],
  ['another query', { [served.route]: { query: other, body, answer } }],
  ['another body', { [served.route]: { query, body: other, answer } }],
  ['another answer', { [served.route]: { query, body, answer: other } }],
  ['a missing answer', { [served.route]: { query, body } }],
])('negative control: %s is reported', (_case, table) => {
  expect(routesUnlikeTheServer(table, [served])).toHaveLength(1);
  expect(routesUnlikeTheServer({ [served.route]: { query, body, answer } }, [served])).toEqual([]);
});

test('a body that the service also takes in another format is compared as the object that it becomes', () => {
  const inTwoFormats = { ...served, schemas: { ...served.schemas, body: z.preprocess((value) => value, body) } };
  expect(routesUnlikeTheServer({ [served.route]: { query, body, answer } }, [inTwoFormats])).toEqual([]);
  expect(routesUnlikeTheServer({ [served.route]: { query, body: other, answer } }, [inTwoFormats])).toHaveLength(1);
});

test('negative control: of a route with two answers, one without the other is reported', () => {
  const twice: RouteFact = { ...served, schemas: { query, body, answers: [answer, other] } };
  const reported = [[answer, other], answer, [answer, query]].map(
    (declared) => routesUnlikeTheServer({ [served.route]: { query, body, answer: declared } }, [twice]).length,
  );
  expect(reported).toEqual([0, 1, 1]);
});

test('negative control: a route that the page does not call, and a path that the table does not have, are reported', () => {
  const page = { path: 'apps/web/src/api/client.ts', text: `get('GET /api/v1/other')` };
  expect(routesUnlikeThePage({ 'GET /api/v1/things': {} }, [page])).toEqual([
    'the page does not call GET /api/v1/things',
    'the table does not have GET /api/v1/other',
  ]);
});

test.each([
  ['const query = z.object({});', 1],
  ['const id = z\n  .iso.datetime();', 1],
  ['function list(): Promise<z.infer<typeof matchAnswer>> {}', 0],
])('%j in a controller is reported %i times', (text, times) => {
  expect(controllersWithSchemas([{ path: 'apps/monolith/src/a.controller.ts', text }])).toHaveLength(times);
});

test.each([
  [`import { matchAnswer } from '#contracts/matches';`, 1],
  [`import {\n  type A,\n  matchAnswer,\n} from '../../../../libs/contracts/src/matches.ts';`, 1],
  [`export { matchAnswer } from '#contracts/matches';`, 1],
  [`import type { Match } from '#contracts/matches';\nimport { a } from './a.ts';`, 0],
])('%s in the page is reported %i times', (text, times) => {
  expect(runTimeImportsOfContracts([{ path: 'apps/web/src/a.ts', text }])).toHaveLength(times);
});
