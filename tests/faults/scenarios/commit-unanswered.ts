import { readHold, type Fan } from '../fan.ts';
import type { Answer, Request } from '../history.ts';
import type { Scenario } from '../scenario.ts';

const COMMIT = 'COMMIT\0';
const REPLICAS = 2;

/**
 * Scenario F04: the database executes a commit, but its reply to the service is lost. A hold loses the reply to the one statement that
 * contains its idempotency key. A checkout, which commits three times, loses the reply to the first COMMIT.
 */
export function commitUnanswered(requests: number): Scenario {
  return {
    id: 'F04',
    title: `the reply to COMMIT is lost, ${requests} requests`,
    limitMs: 30_000 + requests * 500,
    async run(scene, check) {
      const proxies = await Promise.all(Array.from({ length: REPLICAS }, () => scene.proxyTo(scene.databaseUrl)));
      const replicas = await Promise.all(proxies.map(({ url }) => scene.start({}, { databaseUrl: url })));
      const match = await scene.openSale(Math.ceil(requests / 10), 2);
      let [sent, repliesLost, unknown] = [0, 0, 0];
      const sendWithLostReply = async (
        fan: Fan,
        request: Request,
        index: number,
        whenSent: (bytes: Buffer) => boolean,
      ): Promise<Answer> => {
        void proxies[index]?.setTrap({ whenSent, passOn: true, then: 'cut' }).then(() => (repliesLost += 1));
        const first = await fan.sendOnce(request);
        sent += 1;
        if (first.code === 'OUTCOME_UNKNOWN') unknown += 1;
        const answer = await fan.sendUntilAnswered(request);
        check(answer.status === 201, `${request.name} ended with ${answer.status} ${answer.code}`);
        return answer;
      };
      // Send one request at a time to each replica: two holds in one batch would share the lost reply.
      const requestLoops = replicas.map(async (replica, index) => {
        for (let number = 0; number < requests / 2 / REPLICAS; number += 1) {
          const fan = scene.fan(() => replica);
          const holdRequest = fan.holdRequest(match, { sector: number % 2 });
          const key = Buffer.from(holdRequest.key, 'hex');
          // The trap must see only the hold batch, which contains the key as bytes. A lookup of the key contains it as text.
          const isHold = (bytes: Buffer) => bytes.includes(key);
          const held = readHold(await sendWithLostReply(fan, holdRequest, index, isHold));
          await sendWithLostReply(fan, fan.checkoutRequest(held), index, (bytes) => bytes.includes(COMMIT));
        }
      });
      await Promise.all(requestLoops);
      check(repliesLost === sent, `only ${repliesLost} of ${sent} replies were lost`);
      return {
        requests: sent,
        replies_lost: repliesLost,
        outcome_unknown: unknown,
        p50_ms: scene.history.latencyMs(0.5),
        p99_ms: scene.history.latencyMs(0.99),
      };
    },
  };
}
