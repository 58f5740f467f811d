import type { Question } from '../rules/reference-model';
import type { Caller } from './caller';
import { questionOf } from '../changing/secret-changes';
import { LEVELS } from './notes';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, World } from './world';
import { ROOT_USER } from './world';

/** The fields of a to-do or feed entry that the model uses. */
interface FeedRow {
  readonly project_id?: number;
  readonly project?: { readonly id: number };
  readonly body?: string;
  readonly note?: { readonly body: string; readonly noteable_type: string; readonly noteable_iid: number };
  readonly target_type?: string;
  readonly target_iid?: number;
  readonly target?: { readonly iid: number };
}
/** A list, and the level that each of its rows needs. */
interface List {
  readonly path: string;
  readonly effect: NonNullable<Question['effect']>;
  readonly needs: number;
}

/** Lists over all visible projects. The second covers only projects in which the caller has a role. */
const LISTS: readonly (readonly [number, List])[] = [
  [40, { path: '/todos', effect: 'to-do', needs: 0 }],
  [30, { path: '/events?scope=all', effect: 'feed entry', needs: 10 }],
  [30, { path: `/users/${ROOT_USER}/events`, effect: 'feed entry', needs: 0 }],
];
const ANYWHERE: Question = { service: 'collaboration', source: null, needs: 0, writes: false };

/** Reads to-do lists and activity feeds: the caller must be allowed to see each row at the time of the call. */
export class FeedReads {
  constructor(
    private readonly world: World,
    private readonly caller: Caller,
  ) {}

  /** Reads a random list as a signed-in caller. */
  any(random: SeededRandom, gateway: Gateway, asker: Exclude<Asker, 'anonymous'>): Promise<void> {
    return this.read(gateway, asker, ANYWHERE, random.weighted(LISTS));
  }

  ofProject(gateway: Gateway, asker: Asker, project: number): Promise<void> {
    const question: Question = { ...ANYWHERE, source: { kind: 'project', id: project } };
    return this.read(gateway, asker, question, { path: `/projects/${project}/events`, effect: 'feed entry', needs: 0 });
  }

  /** Reads a list and records a decision for each row, except rows of projects outside the model. */
  private async read(gateway: Gateway, asker: Asker, question: Question, { path, effect, needs }: List): Promise<void> {
    const paged = `${path}${path.includes('?') ? '&' : '?'}per_page=50`;
    const call = await this.caller.ask({ asker, gateway, method: 'GET', path: paged, question });
    if (call.status !== 200) return;
    for (const row of call.body as readonly FeedRow[]) {
      const id = row.project?.id ?? row.project_id;
      if (id === undefined || !this.world.projects.has(id)) continue;
      // For targets that are projects or comments, `target_iid` is their id.
      const opened = row.target_type === 'Issue' ? row.target_iid : undefined;
      const iid = row.target?.iid ?? row.note?.noteable_iid ?? opened;
      const secret = this.world.secrets.find((one) => one.kind === 'issue' && one.home.id === id && one.iid === iid);
      if (secret) {
        const about = questionOf(secret, asker, row.note === undefined ? {} : { isNote: true });
        this.caller.note(call, 'allow', { ...about, effect }, secret);
        continue;
      }
      const word = (row.note?.body ?? row.body)?.split(' ')[0] ?? '';
      const least = this.world.notes.get(word)?.internal ? LEVELS.internal : 0;
      const source = { kind: 'project', id } as const;
      this.caller.note(call, 'allow', { ...question, effect, source, needs: Math.max(needs, least) });
    }
  }
}
