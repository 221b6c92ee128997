import type { Check } from './scenario.ts';
import type { Scene } from './scene.ts';
import { successOf } from './history.ts';

const SENDERS = 16;

/** Sends every acknowledged request again with its idempotency key. Each request must get the same answer as before. */
export async function resendAcknowledged(scene: Scene, check: Check): Promise<{ resent: number; replayed: number }> {
  const unsent = scene.history.acknowledged();
  const [resent, fan] = [unsent.length, scene.fan()];
  let replayed = 0;
  const sender = async (): Promise<void> => {
    for (let request = unsent.pop(); request; request = unsent.pop()) {
      const first = successOf(request)!;
      const answer = await fan.sendUntilAnswered(request);
      const isSame = answer.status === first.status && answer.text === first.text;
      check(isSame, `${request.name} ${request.key} was ${first.status} ${first.text}, and then ${answer.status} ${answer.text}`);
      if (answer.replayed) replayed += 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return { resent, replayed };
}
