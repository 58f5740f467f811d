/**
 * First start of a data folder: applies the seed, and saves the state that `npm run reset` restores.
 *
 * @import { Estate } from '../processes/estate.mjs'
 * @import { Seed } from './seed-file.mjs'
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LOOPBACK } from '../processes/environment.mjs';
import { writeRecord } from '../processes/process-records.mjs';
import { INITIAL } from './snapshots.mjs';

export class FirstStart {
  /**
   * @param {Estate} estate
   * @param {Seed | null} seed
   */
  constructor(estate, seed) {
    this.estate = estate;
    this.seed = seed;
    this.mark = join(estate.dataDir, 'first-start.json');
  }

  /** Marks the first start before any user is created. The mark remains until `finish`, so an interrupted one is repeated. */
  begin() {
    if (!existsSync(join(this.estate.dataDir, 'bootstrapped.json'))) writeRecord(this.mark, {});
  }

  get isUnfinished() {
    return existsSync(this.mark);
  }

  /**
   * Finishes the first start when all services are ready.
   * @param {{ keepsState: boolean }} options
   */
  async finish({ keepsState }) {
    const { estate, seed } = this;
    if (this.isUnfinished) {
      if (seed) await this.#applySeedByGateway(seed);
      if (keepsState && estate.snapshots.isPossible) {
        await estate.snapshots.save(INITIAL);
        estate.say('this state is saved for npm run reset');
      }
      rmSync(this.mark);
    } else if (seed) {
      estate.say(
        `${seed.name} is not applied: seeds are for new data folders only. To apply it, stop, rm -rf ${estate.dataDir}, and start again`,
      );
    }
  }

  /** @param {Seed} seed */
  async #applySeedByGateway(seed) {
    const { estate } = this;
    const { applySeed } = await import('./seed.mjs');
    const { giveTokens } = await import('../processes/migrations.mjs');
    // A separate gateway, whose address no client knows.
    const gateway = await estate.replica('gateway', { HOST: LOOPBACK });
    const summary = await applySeed(seed, {
      baseUrl: gateway.baseUrl,
      token: estate.token,
      giveTokens: (tokens) => giveTokens(estate, tokens),
    });
    await estate.endReplica(gateway);
    estate.say(`${seed.name} applied: ${summary}`);
  }
}
