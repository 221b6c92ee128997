import { openBoxOffice, type OpenBoxOffice } from '../../apps/monolith/src/purchase/testing/box-office.ts';
import { TransferOffice } from '../../apps/monolith/src/purchase/testing/transfer-office.ts';
import { putOnSale, seated } from '../../apps/monolith/src/testing/whole-monolith.ts';

/*
 * The attack: a fan offers one ticket to the address of a stranger and withdraws the offer, again and again, so that the stranger's
 * mailbox fills up with our mails; or offers it to a list of addresses.
 */
let opened: OpenBoxOffice;
let transfers: TransferOffice;

beforeAll(async () => {
  opened = await openBoxOffice();
  transfers = new TransferOffice(opened.office);
});
afterAll(() => opened.close());

/** Offers the ticket to each address, one after the other. Returns how many offers were made and how many mails they sent. */
async function offerToAll(addresses: readonly string[]): Promise<{ offers: number; mails: number }> {
  const match = await putOnSale(opened.office.monolith, { sectors: [seated('East A')] });
  const { fan, tickets } = await transfers.buyer(match);
  let mails = 0;
  for (const address of addresses) {
    const id = await transfers.offered(tickets[0], fan, address);
    mails += (await transfers.messages(id)).length;
    await transfers.withdraw(id, fan);
  }
  return { offers: (await transfers.transfers(fan)).length, mails };
}

test('twenty offers of a fan to one address in a day send it five mails; its other offers are on the page only', async () => {
  const addresses = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'stranger@example.hr' : 'Stranger@Example.hr'));
  expect(await offerToAll(addresses)).toEqual({ offers: 20, mails: 5 });
});

test('forty offers of a fan to forty addresses in a day send thirty mails', async () => {
  const addresses = Array.from({ length: 40 }, (_, index) => `stranger${index}@example.hr`);
  expect(await offerToAll(addresses)).toEqual({ offers: 40, mails: 30 });
});
