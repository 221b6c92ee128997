import { Registry } from 'prom-client';
import { registerGauges } from './gauges.ts';

type Stock = Readonly<Record<string, number>>;

function setUp(isReset: boolean) {
  const registry = new Registry();
  const state: { stock: Stock | undefined; error?: Error; readings: number } = { stock: { red: 1, blue: 2 }, readings: 0 };
  const read = async (): Promise<Stock | undefined> => {
    state.readings += 1;
    await Promise.resolve();
    if (state.error) throw state.error;
    return state.stock;
  };
  registerGauges(registry, read, [
    {
      name: 'stock',
      help: 'stock',
      labels: ['colour'],
      isReset,
      values: (stock) => Object.entries(stock).map(([colour, count]) => [count, { colour }]),
    },
    { name: 'colours', help: 'colours', values: (stock) => [[Object.keys(stock).length]] },
  ]);
  const values = async (): Promise<string[]> => (await registry.metrics()).split('\n').filter((line) => /^[a-z]/.test(line));
  return { state, values };
}

test('gauges of one registration share one reading for each scrape', async () => {
  const { state, values } = setUp(false);
  expect(await values()).toEqual(['stock{colour="red"} 1', 'stock{colour="blue"} 2', 'colours 2']);
  expect(state.readings).toBe(1);
  await values();
  expect(state.readings).toBe(2);
});

test.each([
  ['fails', { error: new Error('no database') }],
  ['is undefined', { stock: undefined }],
])('gauges keep their last values when the reading %s', async (_name, change) => {
  const { state, values } = setUp(true);
  const before = await values();
  Object.assign(state, change);
  expect(await values()).toEqual(before);
});

test.each([
  [true, ['stock{colour="red"} 3', 'colours 1']],
  [false, ['stock{colour="red"} 3', 'stock{colour="blue"} 2', 'colours 1']],
])('with isReset %s, values that are no longer in the reading disappear or stay', async (isReset, expected) => {
  const { state, values } = setUp(isReset);
  await values();
  state.stock = { red: 3 };
  expect(await values()).toEqual(expected);
});
