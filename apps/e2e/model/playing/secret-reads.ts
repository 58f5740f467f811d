import { notesOf, pathOf, questionOf, SECRET_WORD } from '../changing/secret-changes';
import { selfAndAncestors, groupIdOf, keyOf } from '../rules/forest';
import type { Project } from '../rules/forest';
import type { Question } from '../rules/reference-model';
import type { SecretQuestion } from '../rules/secrets';
import type { Caller } from './caller';
import type { SeededRandom } from './seeded-random';
import type { Asker, Call, Gateway, Secret, World } from './world';

/** The field of a list row that identifies its secret. */
interface Row {
  readonly id: number;
}
type SignedIn = Exclude<Asker, 'anonymous'>;
const ANYWHERE: Question = { service: 'collaboration', source: null, needs: 0, writes: false };

/** Reads issues and epics that may be confidential: one by one, in lists, and as counts. */
export class SecretReads {
  constructor(
    private readonly world: World,
    private readonly caller: Caller,
  ) {}

  /** Makes one read of `about`, or of any secret if it is not given. */
  async any(random: SeededRandom, gateway: Gateway, asker: SignedIn, about?: Secret): Promise<void> {
    const secret = about ?? this.pick(random);
    if (!secret) return;
    // Lists check the most epics: one answer is a decision about each of them.
    if (secret.kind === 'epic' && random.percent(35)) return this.listOfGroup(random, gateway, asker, secret);
    const dice = random.below(100);
    if (dice < 30) return this.one(gateway, asker, secret);
    if (dice < 45) return this.counted(gateway, asker, secret);
    if (dice < 58) return this.note(gateway, asker, secret);
    if (dice < 68) return this.notes(random, gateway, asker, secret);
    if (dice < 76 && secret.kind === 'issue') return this.addTodo(gateway, asker, secret);
    if (dice < 88 && secret.kind === 'issue') return this.listEverywhere(random, gateway, asker);
    await this.listOfGroup(random, gateway, asker, secret);
  }

  /** Picks a secret of the project or of a group above it. */
  near(random: SeededRandom, project: Project | undefined): Secret | undefined {
    const { state, secrets } = this.world;
    const places = selfAndAncestors(state, project?.group ?? null).map(({ id }) => `group ${id}`);
    return random.pick(
      secrets.filter(
        ({ home }) =>
          (home.kind === 'project' && home.id === project?.id) || places.includes(`${home.kind} ${home.id}`),
      ),
    );
  }

  /** Reads the secret; its note count decides whether the caller may read the internal note. */
  private async one(gateway: Gateway, asker: SignedIn, secret: Secret): Promise<void> {
    const call = await this.ask(gateway, asker, secret, pathOf(secret));
    const { user_notes_count: notes } = (call.body ?? {}) as { readonly user_notes_count?: number };
    if (call.status !== 200 || secret.note === null || notes === undefined) return;
    this.caller.note(call, notes > 0 ? 'allow' : 404, questionOf(secret, asker, { isNote: true }), secret);
  }

  /**
   * Checks the secret in its list and count. A project or group that the caller cannot see is itself answered with 404.
   */
  private async counted(gateway: Gateway, asker: SignedIn, secret: Secret): Promise<void> {
    const { kind, home, iid } = secret;
    const narrowed = kind === 'issue' ? `issues?iids[]=${iid}` : `epics?search=${SECRET_WORD}`;
    const list = `/${home.kind}s/${home.id}/${narrowed}&include_descendant_groups=false&per_page=100`;
    const question: Question = { ...ANYWHERE, source: home };
    const call = await this.caller.ask({ asker, gateway, method: 'GET', path: list, question });
    if (call.status !== 200) return;
    const isListed = (call.body as readonly Row[]).some(({ id }) => id === secret.id);
    this.caller.note(call, isListed ? 'allow' : 404, questionOf(secret, asker), secret);
    if (kind === 'issue') this.caller.note(call, call.total === 1 ? 'allow' : 404, questionOf(secret, asker), secret);
  }

  private async note(gateway: Gateway, asker: SignedIn, secret: Secret): Promise<void> {
    if (secret.note === null) return;
    await this.ask(gateway, asker, secret, `${notesOf(secret)}/${secret.note}`, { isNote: true });
  }

  private async notes(random: SeededRandom, gateway: Gateway, asker: SignedIn, secret: Secret): Promise<void> {
    const [list, type] = random.percent(50) ? [notesOf(secret), 'notes'] : [discussionsOf(secret), 'discussions'];
    const call = await this.ask(gateway, asker, secret, `${list}?per_page=100`);
    if (call.status !== 200 || secret.note === null) return;
    const rows = call.body as readonly (Row & { readonly notes?: readonly Row[] })[];
    const notes = type === 'notes' ? rows : rows.flatMap((row) => row.notes ?? []);
    const isListed = notes.some(({ id }) => id === secret.note);
    this.caller.note(call, isListed ? 'allow' : 404, questionOf(secret, asker, { isNote: true }), secret);
  }

  /** Adds a to-do on the secret, which the to-do list shows while the caller may read the secret. */
  private async addTodo(gateway: Gateway, asker: SignedIn, secret: Secret): Promise<void> {
    const question: Question = { ...questionOf(secret, asker, { writes: true }), isOwnTodo: true };
    await this.caller.ask({ asker, gateway, method: 'POST', path: `${pathOf(secret)}/todo`, question, secret });
  }

  /** Reads the instance-wide list and records a decision for each issue that existed when the call began. */
  private async listEverywhere(random: SeededRandom, gateway: Gateway, asker: SignedIn): Promise<void> {
    const isMine = random.percent(40);
    const path = `/issues?scope=${isMine ? 'assigned_to_me' : 'all'}&search=${SECRET_WORD}&per_page=100`;
    const known = this.world.secrets.filter(({ kind }) => kind === 'issue');
    const call = await this.caller.ask({ asker, gateway, method: 'GET', path, question: ANYWHERE });
    this.noteEach(call, asker, known, { omitsReadOnly: true, ...(isMine && { isAssignedList: true }) });
  }

  /** Reads the list, descendants included, of a group at or above the secret's home, sometimes of any group. */
  private async listOfGroup(random: SeededRandom, gateway: Gateway, asker: SignedIn, secret: Secret): Promise<void> {
    const { state } = this.world;
    const near = selfAndAncestors(state, groupIdOf(state, keyOf(secret.home)));
    const group = random.pick(near.length > 0 && random.percent(90) ? near : [...state.groups.values()]);
    if (!group) return;
    const source = { kind: 'group', id: group.id } as const;
    const list = `/groups/${group.id}/${secret.kind}s?search=${SECRET_WORD}&per_page=100`;
    const known = this.world.secrets.filter(({ kind }) => kind === secret.kind);
    const question: Question = { ...ANYWHERE, source };
    const call = await this.caller.ask({ asker, gateway, method: 'GET', path: list, question });
    this.noteEach(call, asker, known, { listGroup: group.id, omitsReadOnly: secret.kind === 'issue' });
  }

  private noteEach(call: Call, asker: SignedIn, known: readonly Secret[], more: Partial<SecretQuestion>): void {
    if (call.status !== 200) return;
    const ids = new Set((call.body as readonly Row[]).map(({ id }) => id));
    for (const secret of known) {
      if (!ids.has(secret.id) && ids.size >= 100) continue;
      this.caller.note(call, ids.has(secret.id) ? 'allow' : 404, questionOf(secret, asker, more), secret);
    }
  }

  private ask(
    gateway: Gateway,
    asker: SignedIn,
    secret: Secret,
    path: string,
    more: Partial<SecretQuestion> = {},
  ): Promise<Call> {
    const question = questionOf(secret, asker, more);
    return this.caller.ask({ asker, gateway, method: 'GET', path, question, secret });
  }

  /** Picks a secret, mostly one that was not deleted. */
  private pick(random: SeededRandom): Secret | undefined {
    const account = this.world.secrets.filter(({ history }) => !history.latest.isDeleted);
    return random.pick(random.percent(93) ? account : this.world.secrets);
  }
}

function discussionsOf(secret: Secret): string {
  return notesOf(secret).replace(/notes$/, 'discussions');
}
