import { setTimeout as pause } from 'node:timers/promises';
import { Changes } from '../changing/changes';
import type { Caller } from './caller';
import { BotScenes } from './bot-scenes';
import { JobReads } from './job-reads';
import { JobScenes } from './job-scenes';
import { ImpersonationScenes } from './impersonation-scenes';
import { Notes } from './notes';
import type { Focus } from './forest-scenes';
import { ForestScenes } from './forest-scenes';
import { PageReads } from './page-reads';
import { PeopleScenes } from './people-scenes';
import { Reads } from './reads';
import { SecretReads } from './secret-reads';
import { SecretScenes } from './secret-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive, isTokenBot } from './world';

/** Plays scenes: a change with reads around it, or a random read. */
export class Driver {
  readonly changes: Changes;
  readonly notes: Notes;
  private readonly bots: BotScenes;
  private readonly impersonations: ImpersonationScenes;
  private readonly people: PeopleScenes;
  private readonly forest: ForestScenes;
  private readonly secrets: SecretScenes;
  private readonly jobs: JobScenes;
  private readonly jobReads: JobReads;
  private readonly reads: Reads;
  private readonly pageReads: PageReads;
  private readonly secretReads: SecretReads;

  constructor(
    private readonly world: World,
    caller: Caller,
    private readonly gateways: readonly Gateway[],
  ) {
    this.changes = new Changes(world, caller);
    this.forest = new ForestScenes(world, this.changes);
    this.people = new PeopleScenes(world, this.forest, this.changes);
    this.bots = new BotScenes(world, this.changes);
    this.impersonations = new ImpersonationScenes(world, this.changes);
    this.notes = new Notes(this.changes);
    this.secrets = new SecretScenes(world, this.changes);
    this.jobs = new JobScenes(world, this.changes);
    this.jobReads = new JobReads(world, caller);
    this.secretReads = new SecretReads(world, caller);
    this.pageReads = new PageReads(world, caller);
    this.reads = new Reads(world, caller, this.notes, gateways);
  }

  async prepare(random: SeededRandom): Promise<void> {
    await this.forest.prepare(random, this.gateways[0]!);
    await this.people.prepare(random, this.gateways[0]!);
  }

  /** Plays one scene. */
  async play(random: SeededRandom): Promise<void> {
    const gateway = random.pick(this.gateways)!;
    const dice = random.below(100);
    if (dice < 27) return this.playPeople(random, gateway);
    if (dice < 43)
      return this.playWithReads(random, gateway, (announce) =>
        this.world.withForest(() => this.forest.play(random, gateway, announce)),
      );
    if (dice < 52) return this.playWithReads(random, gateway, (announce) => this.bots.play(random, gateway, announce));
    if (dice < 58)
      return this.playWithReads(random, gateway, (announce) => this.impersonations.play(random, gateway, announce));
    if (dice < 71)
      return this.playWithReads(random, gateway, (announce) => this.secrets.play(random, gateway, announce));
    if (dice < 77) return this.playWithReads(random, gateway, (announce) => this.jobs.play(random, gateway, announce));
    if (dice < 80) return this.jobReads.any(random, gateway);
    await this.reads.any(random);
  }

  private async playPeople(random: SeededRandom, gateway: Gateway): Promise<void> {
    if (this.people.needsPeople) await this.people.addPerson(random, gateway);
    const isInactive = random.percent(22);
    const person = isInactive
      ? this.world.lockRandom(
          random,
          (state, who) => !isActive(state) && state.account !== 'removed' && !isTokenBot(who),
        )
      : this.world.lockRandom(random, (state, who) => isActive(state) && !isTokenBot(who));
    if (!person) return;
    try {
      await this.playPerson(random, gateway, person, isInactive);
    } finally {
      person.isLocked = false;
    }
  }

  private playPerson(random: SeededRandom, gateway: Gateway, person: Person, isInactive: boolean): Promise<void> {
    const key = this.people.place(random, person);
    const token = this.world.token(random, person);
    const asker = token === undefined ? undefined : { person, token };
    return this.playWithReads(random, gateway, (announce) => {
      announce({ asker, project: this.forest.projectIn(random, key) });
      return isInactive
        ? this.people.playInactive(random, gateway, person, token)
        : this.people.play(random, gateway, { person, key, token });
    });
  }

  /**
   * Reads while the change is in progress, and as soon as it has been answered: at these times a wrong answer is
   * likeliest. `change` announces the person and project that it concerns before it begins.
   */
  private async playWithReads(
    random: SeededRandom,
    gateway: Gateway,
    change: (announce: (focus: Focus) => void) => Promise<void>,
  ): Promise<void> {
    const reads: Promise<void>[] = [];
    let focus: Focus | undefined;
    await change((announced) => {
      focus = announced;
      for (let count = random.below(3); count > 0; count -= 1) reads.push(this.readMeanwhile(random, announced));
    });
    for (let count = random.below(3); count >= 0; count -= 1) {
      const where = random.percent(65) ? gateway : random.pick(this.gateways)!;
      reads.push(this.read(random, where, focus));
    }
    if (random.percent(30)) reads.push(this.writeNote(random, gateway, focus));
    reads.push(this.openPage(random, random.pick(this.gateways)!, focus));
    await Promise.all(reads);
  }

  /** Opens a page as the person whom a change concerns. */
  private async openPage(random: SeededRandom, gateway: Gateway, focus: Focus | undefined): Promise<void> {
    const project = focus?.project ?? this.world.project(random);
    const asker = focus?.asker ?? this.reads.asker(random);
    if (project && asker) await this.pageReads.ofProject(random, gateway, asker, project.id);
  }

  private async readMeanwhile(random: SeededRandom, focus: Focus): Promise<void> {
    await pause(random.below(12));
    await this.read(random, random.pick(this.gateways)!, focus);
  }

  /** Writes a note that mentions the person whose access has just changed. */
  private async writeNote(random: SeededRandom, gateway: Gateway, focus: Focus | undefined): Promise<void> {
    const project = focus?.project ?? this.world.project(random);
    if (!project || !this.world.withIssue.has(project.id)) return;
    const about = typeof focus?.asker === 'object' ? focus.asker.person : undefined;
    await this.notes.write(random, gateway, 'root', project.id, about);
  }

  private async read(random: SeededRandom, gateway: Gateway, focus: Focus | undefined): Promise<void> {
    if (!focus?.asker) return this.reads.any(random);
    const asker = focus.asker;
    if (asker !== 'anonymous' && asker !== 'root' && focus.isOfJob) return this.jobReads.one(random, gateway, asker);
    if (asker !== 'anonymous' && (focus.secret ? random.percent(85) : random.percent(15)))
      return this.secretReads.any(random, gateway, asker, focus.secret ?? this.secretReads.near(random, focus.project));
    const project = focus.project ?? this.world.project(random);
    if (project && random.percent(15)) return this.pageReads.ofProject(random, gateway, asker, project.id);
    await this.reads.about(random, gateway, focus.asker, project);
  }
}
