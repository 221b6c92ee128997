import type { Claim } from './scenario.ts';
import type { Scene } from './scene.ts';
import { successOf } from './history.ts';

const SENDERS = 16;

/** Sends everything again that was acknowledged, with its own key: each gets the answer it had. */
export async function resend(scene: Scene, claim: Claim): Promise<{ resent: number; replayed: number }> {
  const waiting = scene.history.acknowledged();
  const [resent, fan] = [waiting.length, scene.fan()];
  let replayed = 0;
  const sender = async (): Promise<void> => {
    for (let request = waiting.pop(); request; request = waiting.pop()) {
      const first = successOf(request)!;
      const answer = await fan.insist(request);
      const isSame = answer.status === first.status && answer.text === first.text;
      claim(isSame, `${request.name} ${request.key} was ${first.status} ${first.text}, and then ${answer.status} ${answer.text}`);
      if (answer.replayed) replayed += 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return { resent, replayed };
}
