import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { control, estate, mark } from '../support/estate';
import { effectDecisions } from './checking/effects';
import { logOf, reportOf } from './checking/report';
import { Caller } from './playing/caller';
import { addressOf } from './changing/people-changes';
import { Driver } from './playing/driver';
import { EffectsWatch } from './playing/effects-watch';
import { Faults } from './playing/faults';
import { SeededRandom } from './playing/seeded-random';
import type { Gateway } from './playing/world';
import { World } from './playing/world';

/**
 * No answer is based on outdated permissions: a random driver calls two gateways and a reference model checks the answers,
 * while appliers are paused and processes are stopped and killed. MODEL_STEPS and MODEL_SEED choose the run.
 * Source: reference reliability 4.4; ADR 0090.
 */
const STEPS = Number(process.env['MODEL_STEPS'] ?? 2000);
const SEED = Number(process.env['MODEL_SEED'] ?? Date.now() % 1_000_000);
/** Units: calls a second. Slow enough that the shortest run still meets some twenty faults. */
const RATE = Number(process.env['MODEL_RATE'] ?? 60);
const DRIVERS = 8;
const LOGS = join(__dirname, '../../../node_modules/.cache/rookery');

interface Replica {
  readonly baseUrl: string;
  readonly pid: number;
}

it(
  'every answer is explained by some state that the call may have met',
  async () => {
    const second = await control<Replica>('/replicas/gateway');
    const gateways = [
      { name: 'A', baseUrl: estate.baseUrl },
      { name: 'B', baseUrl: second.baseUrl },
    ];
    const world = new World(mark);
    const caller = new Caller(estate.rootToken, world.forest, RATE);
    const driver = new Driver(world, caller, gateways);
    await driver.prepare(new SeededRandom(SEED, 0));
    const databases = JSON.parse(process.env['TEST_DATABASE_URLS'] ?? '{}') as Record<string, string>;
    const levers = { databases, control, pids, secondGateway: second.pid };
    const word = new RegExp(`note\\d+-${mark}`);
    const watch = new EffectsWatch(databases['collaboration']!, estate.mailDir, word, () => caller.now);
    const faults = new Faults(levers, new SeededRandom(SEED, 1), () => caller.now);
    let lastNoteError: unknown = null;
    watch.start();
    try {
      await underFaults(faults, () => drive(driver, caller));
      lastNoteError = await waitForLastNote(driver, gateways[0]!, watch);
    } finally {
      await watch.stop();
    }
    const effects = effectDecisions(world, watch.found);
    caller.decisions.push(...effects);
    const report = reportOf({ seed: SEED, caller, changes: driver.changes.made, faults: faults.done });
    process.stderr.write(`\n${report.text}\n`);
    if (report.violations.length > 0) keepLog(logOf(caller, faults.done));
    expect(report.figures).toMatchObject({
      'stale allows': 0,
      'stale effects': 0,
      'stale denies': 0,
      'wrong refusals': 0,
      'answers 500': 0,
    });
    expect(lastNoteError).toBeNull();
    expect(report.figures['decisions']).toBeGreaterThan(STEPS / 3);
    expect(effects.length).toBeGreaterThan(STEPS / 100);
  },
  Math.max(900_000, STEPS * 100),
);

async function underFaults(faults: Faults, play: () => Promise<void>): Promise<void> {
  faults.start();
  try {
    await play();
  } finally {
    await faults.stop();
  }
}

/** Runs the drivers. If one fails, the others end too; otherwise they would keep the test process alive. */
async function drive(driver: Driver, caller: Caller): Promise<void> {
  const streams = Array.from({ length: DRIVERS }, (_, index) => new SeededRandom(SEED, index + 2));
  const [stepsBefore, since] = [caller.steps, caller.now];
  let isOver = false;
  const ends = await Promise.allSettled(
    streams.map(async (random) => {
      try {
        while (!isOver && caller.steps < STEPS) {
          await caller.keepPace(stepsBefore, since);
          await driver.play(random);
        }
      } finally {
        isOver = true;
      }
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw new Error(`of seed ${SEED}, in step ${caller.steps}`, { cause: failed.reason });
}

/**
 * Waits until the effects of a last note were delivered. If they were not, returns the error, which is reported after
 * the figures.
 */
async function waitForLastNote(driver: Driver, gateway: Gateway, watch: EffectsWatch): Promise<unknown> {
  try {
    const { word, person } = await driver.notes.writeLast(gateway);
    await watch.until(word, addressOf(person.name));
    return null;
  } catch (error) {
    return error;
  }
}

async function pids(): Promise<Record<string, number>> {
  const response = await fetch(estate.controlUrl);
  return ((await response.json()) as { pids: Record<string, number> }).pids;
}

function keepLog(text: string): void {
  mkdirSync(LOGS, { recursive: true });
  const file = join(LOGS, `model-${SEED}.log`);
  writeFileSync(file, text);
  process.stderr.write(`all calls and faults: ${file}\n`);
}
