import { CoalescedRuns, type UpdateScope } from './coalesced-runs.ts';

/** Work whose calls the test ends: call `i` ends with `ends[i].resolve` or `ends[i].reject`. `scopes`: the scope of each call. */
function controlledWork() {
  const scopes: UpdateScope[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = (scope: UpdateScope) => {
    scopes.push(scope);
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { work, scopes, ends };
}

const settled = () => new Promise(setImmediate);

test('CoalescedRuns: if no work with the same key is running, a request starts its work at once, with the requested scope (which fans to update)', async () => {
  const { work, scopes, ends } = controlledWork();
  const done = new CoalescedRuns().request('m', work, 'near');
  expect(scopes).toEqual(['near']);
  ends[0]!.resolve();
  await done;
  expect(scopes).toEqual(['near']);
});

test.each<[requested: UpdateScope[], next: UpdateScope]>([
  [['near'], 'near'],
  [['near', 'near'], 'near'],
  [['near', 'all', 'near'], 'all'],
  [['all', 'near', 'near'], 'all'],
])(
  'CoalescedRuns: requests with the scopes %j while the work is running are merged: the work runs once more, with scope %s, and they wait for its end',
  async (requested, next) => {
    const { work, scopes, ends } = controlledWork();
    const runs = new CoalescedRuns();
    const first = runs.request('m', work, 'all');
    let ended = 0;
    const merged = requested.map((scope) => runs.request('m', work, scope).then(() => (ended += 1)));
    expect(scopes).toEqual(['all']);
    ends[0]!.resolve();
    await settled();
    expect(scopes).toEqual(['all', next]);
    expect(ended).toBe(0);
    ends[1]!.resolve();
    await Promise.all([first, ...merged]);
    expect(ended).toBe(requested.length);
    expect(scopes).toEqual(['all', next]);
  },
);

test('CoalescedRuns: a request while the work runs for the second time makes it run a third time', async () => {
  const { work, scopes, ends } = controlledWork();
  const runs = new CoalescedRuns();
  const first = runs.request('m', work, 'all');
  void runs.request('m', work, 'near');
  ends[0]!.resolve();
  await settled();
  void runs.request('m', work, 'near');
  ends[1]!.resolve();
  await settled();
  ends[2]!.resolve();
  await first;
  expect(scopes).toEqual(['all', 'near', 'near']);
});

test('CoalescedRuns: work with different keys runs in parallel', () => {
  const { work, scopes } = controlledWork();
  const runs = new CoalescedRuns();
  void runs.request('one', work, 'all');
  void runs.request('other', work, 'near');
  expect(scopes).toEqual(['all', 'near']);
});

test('CoalescedRuns: when the work fails, all requests that wait for it are rejected and it does not run again; a later request starts it', async () => {
  const { work, scopes, ends } = controlledWork();
  const runs = new CoalescedRuns();
  const requests = [runs.request('m', work, 'all'), runs.request('m', work, 'near')];
  ends[0]!.reject(new Error('Redis is down'));
  for (const request of requests) await expect(request).rejects.toThrow('Redis is down');
  expect(scopes).toEqual(['all']);
  const next = runs.request('m', work, 'near');
  ends[1]!.resolve();
  await next;
  expect(scopes).toEqual(['all', 'near']);
});
