import 'reflect-metadata';
import { ProbeJob } from './probe.job';
import { newService } from './service';

/** A worker of these jobs in a process of its own, for tests that kill it. Its argument is the database's URL. */
async function main(): Promise<void> {
  ProbeJob.gate = new Promise(() => undefined);
  const service = await newService({ url: process.argv[2]!, jobs: [ProbeJob] });
  service.start();
}
void main();
