import { ForgetFan } from './forget-fan.ts';
import { StateNeeded, type WaitingLines } from './ports.ts';

test('a fan is taken out of every line, also when Redis does not know the state of one match; the call then fails and is repeated', async () => {
  const asked: string[] = [];
  let isKnown = false;
  const lines: Pick<WaitingLines, 'matches' | 'forget'> = {
    matches: () => Promise.resolve(['m1', 'm2', 'm3']),
    forget: (matchId, userId) => {
      asked.push(`${matchId} ${userId}`);
      return matchId === 'm2' && !isKnown ? Promise.reject(new StateNeeded(matchId)) : Promise.resolve();
    },
  };
  const forgetFan = new ForgetFan(lines as WaitingLines);
  await expect(forgetFan.execute('ana')).rejects.toThrow(StateNeeded);
  expect(asked).toEqual(['m1 ana', 'm2 ana', 'm3 ana']);
  isKnown = true;
  await expect(forgetFan.execute('ana')).resolves.toBeUndefined();
});
