import { heldIn, type Fan } from '../fan.ts';
import type { Answer, Request } from '../history.ts';
import type { Scenario } from '../scenario.ts';

const COMMIT = 'COMMIT\0';
const REPLICAS = 2;

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
      const proxies = await Promise.all(Array.from({ length: REPLICAS }, () => scene.proxyTo(scene.databaseUrl)));
      const replicas = await Promise.all(proxies.map(({ url }) => scene.start({}, { databaseUrl: url })));
      const match = await scene.onSale(Math.ceil(requests / 10), 2);
      let [asked, sprung, unknown] = [0, 0, 0];
      const unanswered = async (fan: Fan, request: Request, index: number, when: (bytes: Buffer) => boolean): Promise<Answer> => {
        void proxies[index]?.setTrap({ whenSent: when, passOn: true, then: 'cut' }).then(() => (sprung += 1));
        const first = await fan.ask(request);
        asked += 1;
        if (first.code === 'OUTCOME_UNKNOWN') unknown += 1;
        const answer = await fan.insist(request);
        claim(answer.status === 201, `${request.name} ended with ${answer.status} ${answer.code}`);
        return answer;
      };
      // One after the other at each replica: two holds in one batch would have one answer to lose.
      const buyers = replicas.map(async (replica, index) => {
        for (let number = 0; number < requests / 2 / REPLICAS; number += 1) {
          const fan = scene.fan(() => replica);
          const holding = fan.holding(match, { sector: number % 2 });
          const key = Buffer.from(holding.key, 'hex');
          // A batch carries keys as bytes; who looks whether one is known, as text.
          const isHold = (bytes: Buffer) => bytes.includes(key);
          const held = heldIn(await unanswered(fan, holding, index, isHold));
          await unanswered(fan, fan.checkingOut(held), index, (bytes) => bytes.includes(COMMIT));
        }
      });
      await Promise.all(buyers);
      claim(sprung === asked, `only ${sprung} of ${asked} replies were lost`);
      return {
        requests: asked,
        replies_lost: sprung,
        outcome_unknown: unknown,
        p50_ms: scene.history.latency(0.5),
        p99_ms: scene.history.latency(0.99),
      };
    },
  };
}
