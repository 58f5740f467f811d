import { setTimeout as pause } from 'node:timers/promises';
import { Changes } from '../changing/changes';
import type { Caller } from './caller';
import { BotScenes } from './bot-scenes';
import { ImpersonationScenes } from './impersonation-scenes';
import { Notes } from './notes';
import type { Focus } from './forest-scenes';
import { ForestScenes } from './forest-scenes';
import { PeopleScenes } from './people-scenes';
import { Reads } from './reads';
import { SecretReads } from './secret-reads';
import { SecretScenes } from './secret-scenes';
import type { SeededRandom } from './seeded-random';
import type { Gateway, Person, World } from './world';
import { isActive, isOfToken } from './world';

/** Plays scenes: a change with reads around it, or reads by anybody of anything. */
export class Driver {
  readonly changes: Changes;
  readonly notes: Notes;
  private readonly bots: BotScenes;
  private readonly impersonations: ImpersonationScenes;
  private readonly people: PeopleScenes;
  private readonly forest: ForestScenes;
  private readonly secrets: SecretScenes;
  private readonly reads: Reads;
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
    this.secretReads = new SecretReads(world, caller);
    this.reads = new Reads(world, caller, this.notes, gateways);
  }

  async prepare(random: SeededRandom): Promise<void> {
    await this.forest.prepare(random, this.gateways[0]!);
    await this.people.prepare(random, this.gateways[0]!);
  }

  /** One scene. */
  async play(random: SeededRandom): Promise<void> {
    const gateway = random.pick(this.gateways)!;
    const dice = random.below(100);
    if (dice < 27) return this.ofPeople(random, gateway);
    if (dice < 43)
      return this.around(random, gateway, (tell) => this.world.inForest(() => this.forest.play(random, gateway, tell)));
    if (dice < 52) return this.around(random, gateway, (tell) => this.bots.play(random, gateway, tell));
    if (dice < 58) return this.around(random, gateway, (tell) => this.impersonations.play(random, gateway, tell));
    if (dice < 71) return this.around(random, gateway, (tell) => this.secrets.play(random, gateway, tell));
    await this.reads.any(random);
  }

  private async ofPeople(random: SeededRandom, gateway: Gateway): Promise<void> {
    if (this.people.isEmpty) await this.people.come(random, gateway);
    const isShutOut = random.percent(22);
    const person = isShutOut
      ? this.world.take(random, (state, who) => !isActive(state) && state.standing !== 'gone' && !isOfToken(who))
      : this.world.take(random, (state, who) => isActive(state) && !isOfToken(who));
    if (!person) return;
    try {
      await this.ofPerson(random, gateway, person, isShutOut);
    } finally {
      person.isTaken = false;
    }
  }

  private ofPerson(random: SeededRandom, gateway: Gateway, person: Person, isShutOut: boolean): Promise<void> {
    const key = this.people.place(random, person);
    const token = this.world.token(random, person);
    const asker = token === undefined ? undefined : { person, token };
    return this.around(random, gateway, (tell) => {
      tell({ asker, project: this.forest.projectIn(random, key) });
      return isShutOut
        ? this.people.playShutOut(random, gateway, person, token)
        : this.people.play(random, gateway, { person, key, token });
    });
  }

  /**
   * Reads while the change is under way, and as soon as it has been answered: there a wrong answer is likeliest.
   * Shape: `change` tells whom and what it concerns before it begins.
   */
  private async around(
    random: SeededRandom,
    gateway: Gateway,
    change: (tell: (focus: Focus) => void) => Promise<void>,
  ): Promise<void> {
    const reads: Promise<void>[] = [];
    let focus: Focus | undefined;
    await change((told) => {
      focus = told;
      for (let count = random.below(3); count > 0; count -= 1) reads.push(this.meanwhile(random, told));
    });
    for (let count = random.below(3); count >= 0; count -= 1) {
      const where = random.percent(65) ? gateway : random.pick(this.gateways)!;
      reads.push(this.look(random, where, focus));
    }
    if (random.percent(30)) reads.push(this.tellOf(random, gateway, focus));
    await Promise.all(reads);
  }

  private async meanwhile(random: SeededRandom, focus: Focus): Promise<void> {
    await pause(random.below(12));
    await this.look(random, random.pick(this.gateways)!, focus);
  }

  /** Whoever has just lost something, or got it, is named where that counts. */
  private async tellOf(random: SeededRandom, gateway: Gateway, focus: Focus | undefined): Promise<void> {
    const project = focus?.project ?? this.world.project(random);
    if (!project || !this.world.withIssue.has(project.id)) return;
    const about = typeof focus?.asker === 'object' ? focus.asker.person : undefined;
    await this.notes.tell(random, gateway, 'root', project.id, about);
  }

  private async look(random: SeededRandom, gateway: Gateway, focus: Focus | undefined): Promise<void> {
    if (!focus?.asker) return this.reads.any(random);
    const asker = focus.asker;
    if (asker !== 'anonymous' && (focus.secret ? random.percent(85) : random.percent(15)))
      return this.secretReads.any(random, gateway, asker, focus.secret ?? this.secretReads.near(random, focus.project));
    await this.reads.about(random, gateway, focus.asker, focus.project ?? this.world.project(random));
  }
}
