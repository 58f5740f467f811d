import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { JobRun } from '@rookery/jobs';
import { Departures, handOverTraces } from './departures';

/** Works off the traces of a removed person, round after round. Source: ADR 0136. */
@Injectable()
export class DeparturesJob {
  constructor(private readonly departures: Departures) {}

  @Job(handOverTraces)
  async run({ params, signal }: JobRun<typeof handOverTraces>): Promise<void> {
    await this.departures.once(params.user_id, signal);
  }
}
