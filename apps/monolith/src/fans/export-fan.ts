import { Clock } from '#application/clock';
import { exportedLists } from '#contracts/fan-export';
import { Injectable } from '@nestjs/common';
import { Devices } from './devices.ts';
import { KeptAboutFans, type AskingFan } from './kept-about-fans.api.ts';
import { Profiles } from './profiles.ts';

/** Writes all that is kept about a fan as one JSON object. */
@Injectable()
export class ExportFan {
  constructor(
    private readonly kept: KeptAboutFans,
    private readonly profiles: Profiles,
    private readonly clock: Clock,
    devices: Devices,
  ) {
    kept.add('devices', async function* ({ userId }) {
      yield await devices.list(userId);
    });
  }

  /** The text of the object in pieces of one page: the next page is read when the client has taken the last one. */
  async *write(fan: AskingFan): AsyncGenerator<string> {
    const { userId } = fan;
    const facts = { user_id: userId, exported_at: this.clock.now().toISOString(), profile: await this.profiles.find(userId) };
    yield JSON.stringify(facts).slice(0, -1);
    for (const list of exportedLists) {
      yield `,${JSON.stringify(list)}:[`;
      let separator = '';
      for await (const items of this.kept.pagesOf(list, fan)) {
        if (items.length === 0) continue;
        yield separator + items.map((item) => JSON.stringify(item)).join(',');
        separator = ',';
      }
      yield ']';
    }
    yield '}';
  }
}
