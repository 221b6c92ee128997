import type { Fan, Held } from '../fan.ts';
import { heldIn, orderedIn } from '../fan.ts';
import type { Scenario } from '../scenario.ts';

const COMMIT = 'COMMIT\0';

/**
 * F04: the database does what it was told, and the answer never arrives. A hold is one statement with its key in it; a
 * checkout ends with COMMIT, three times.
 */
export function commitUnanswered(requests: number): Scenario {
  return {
    id: 'F04',
    title: `the reply to COMMIT is lost, ${requests} requests`,
    limitMs: 30_000 + requests * 500,
    async play(scene, claim) {
      const proxy = await scene.proxyTo(scene.databaseUrl);
      const replica = await scene.start({}, { databaseUrl: proxy.url });
      const match = await scene.onSale(Math.ceil(requests / 10), 2);
      let [sprung, outcomes, unknown] = [0, 0, 0];
      const unanswered = async (fan: Fan, request: ReturnType<Fan['holding']>, when: (bytes: Buffer) => boolean) => {
        void proxy.setTrap({ whenSent: when, passOn: true, then: 'cut' }).then(() => (sprung += 1));
        const first = await fan.ask(request);
        outcomes += 1;
        if (first.code === 'OUTCOME_UNKNOWN') unknown += 1;
        const answer = await fan.insist(request);
        claim(answer.status === 201, `${request.name} ended with ${answer.status} ${answer.code}`);
        return answer;
      };
      const holdThenCheckOut = async (number: number): Promise<void> => {
        const fan = scene.fan(() => replica);
        const holding = fan.holding(match, { sector: number % 2 });
        // The look whether the key is known comes first and carries it too.
        const isHold = (bytes: Buffer) => bytes.includes(holding.key) && !bytes.includes('from idempotency_keys');
        const held: Held = heldIn(await unanswered(fan, holding, isHold));
        orderedIn(await unanswered(fan, fan.checkingOut(held), (bytes) => bytes.includes(COMMIT)));
      };
      for (let done = 0; done < requests / 2; done += 2) await Promise.all([holdThenCheckOut(done), holdThenCheckOut(done + 1)]);
      claim(sprung === outcomes, `only ${sprung} of ${outcomes} replies were lost`);
      return {
        requests: outcomes,
        replies_lost: sprung,
        outcome_unknown: unknown,
        p50_ms: scene.history.latency(0.5),
        p99_ms: scene.history.latency(0.99),
      };
    },
  };
}
