/** What belongs to the first start of a data folder alone: the seed, and the state that `npm run reset` goes back to. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LOOPBACK } from './environment.mjs';
import { writeRecord } from './processes.mjs';
import { INITIAL } from './snapshots.mjs';

export class FirstStart {
  /** Shape: `seed` as readSeed answers it, or null. */
  constructor(estate, seed) {
    Object.assign(this, { estate, seed });
    this.mark = join(estate.dataDir, 'first-start.json');
  }

  /** Before anybody is made. The mark stays until the end, so a first start that was broken off is one again. */
  begin() {
    if (!existsSync(join(this.estate.dataDir, 'bootstrapped.json'))) writeRecord(this.mark, {});
  }

  get isUnderWay() {
    return existsSync(this.mark);
  }

  /** When all services are ready. */
  async finish({ keepsState }) {
    const { estate, seed } = this;
    if (this.isUnderWay) {
      if (seed) await this.#plant();
      if (keepsState && estate.snapshots.isPossible) {
        await estate.snapshots.save(INITIAL);
        estate.say('this state is kept for npm run reset');
      }
      rmSync(this.mark);
    } else if (seed) {
      estate.say(
        `${seed.name} is not applied: it is for new data folders, and this one keeps what it began with; to begin anew, stop, rm -rf ${estate.dataDir}, start`,
      );
    }
  }

  async #plant() {
    const { estate, seed } = this;
    const { applySeed } = await import('./seed.mjs');
    const { giveTokens } = await import('./migrations.mjs');
    // A door of its own, which nobody else knows.
    const door = await estate.replica('gateway', { HOST: LOOPBACK });
    const made = await applySeed(seed, {
      baseUrl: door.baseUrl,
      token: estate.token,
      giveTokens: (tokens) => giveTokens(estate, tokens),
    });
    await estate.endReplica(door);
    estate.say(`${seed.name} applied: ${made}`);
  }
}
