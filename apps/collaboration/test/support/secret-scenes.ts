import type { DirectoryNamespace } from '@rookery/contracts';
import { requestOf } from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import { castOf } from './app';
import type { Cast } from './app';
import type { mailbox } from './mailbox';

export type Kind = 'issue' | 'epic';
export interface Target {
  readonly id: number;
  readonly iid: number;
}
export interface Scene {
  readonly cast: Cast;
  /** Path of the list of the kind. */
  readonly list: string;
  readonly group: string;
  readonly above: string;
  readonly below: string;
  readonly project: string;
  /** Visible to all, and related to the other one in every way. */
  readonly visible: Target;
  /** The target that is secret, or that has the secret note. */
  readonly secret: Target;
  /** An issue and a child epic of the secret, if it is an epic. */
  readonly epicIssue: Target;
  readonly child: Target;
  readonly milestone: number;
  readonly note: number;
  readonly discussion: string;
  readonly award: number;
}

export const WORD = 'Hushword';
export const ROLES = [
  'anonymous',
  'stranger',
  'external',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'admin',
] as const;
export type Who = (typeof ROLES)[number];

export const root = '/api/v4';
export const secretPath = ({ list, secret }: Scene): string => `${list}/${secret.iid}`;
export const visiblePath = ({ list, visible }: Scene): string => `${list}/${visible.iid}`;
/** Returns the path below which the notes are. It has the id of an epic, but the iid of an issue. */
export const notesParentOf = (kind: Kind, { list }: Pick<Scene, 'list'>, { id, iid }: Target): string =>
  `${list}/${kind === 'epic' ? id : iid}`;

/** Creates secrets, and clients for the users of their scene. */
export function secretScenes(at: () => SeededService, box: ReturnType<typeof mailbox>) {
  const as = (cast: Cast, who: Who | 'owner') => {
    const { app, seed } = at();
    const { directory } = seed.anonymous();
    return app.as({ ...(who === 'anonymous' ? seed.anonymous() : seed.viewer(cast[who])), directory });
  };
  const senderOf =
    (cast: Cast) =>
    async (method: Method, path: string, body: object = {}, who: 'owner' | 'developer' = 'owner'): Promise<Target> => {
      const answer = await requestOf(as(cast, who), method, path).send(body);
      if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
      return answer.body as Target;
    };

  /** Creates two targets of a kind; the second mentions the first and all users, unless a note is to do so. */
  async function createTargets(kind: Kind, isNote: boolean) {
    const { seed } = at();
    const place = (parent?: DirectoryNamespace) =>
      seed.group({ plan: 'ultimate', visibility: 'public', ...(parent ? { parent } : {}) });
    const above = await place();
    const home = await place(above);
    const below = await place(home);
    const inside = await seed.project({ namespace_id: home.id, visibility: 'public' });
    const cast = await castOf(seed, home);
    const send = senderOf(cast);
    const [group, project] = [`${root}/groups/${home.id}`, `${root}/projects/${inside.id}`];
    const list = kind === 'issue' ? `${project}/issues` : `${group}/epics`;
    const { id: milestone } = await send('POST', `${project}/milestones`, { title: 'M' });
    await send('POST', `${group}/labels`, { name: 'wood', color: '#112233' });
    const visible = await send('POST', list, { title: 'Plain' });
    const people = [...ROLES, 'owner' as const].flatMap((who) => (who === 'anonymous' ? [] : `@${cast[who].username}`));
    const text = `${WORD} ${people.join(' ')} ${kind === 'issue' ? '#' : '&'}${visible.iid}`;
    const ofIssue = kind === 'issue' ? { milestone_id: milestone } : {};
    const secret = isNote
      ? await send('POST', list, { title: 'Open' })
      : await send('POST', list, { title: WORD, description: text, labels: 'wood', ...ofIssue });
    const child = await send('POST', `${group}/epics`, { title: 'A child' });
    const epicIssue = await send('POST', `${project}/issues`, { title: 'A task' });
    const around = { above: `${root}/groups/${above.id}`, group, below: `${root}/groups/${below.id}`, project };
    return { ...around, cast, list, milestone, visible, secret, child, epicIssue, text };
  }

  /** Relates the target to everything that may refer to it, makes it confidential, and adds a note. */
  async function makeConfidential(kind: Kind, scene: Awaited<ReturnType<typeof createTargets>>): Promise<void> {
    const { cast, list, group, project, visible, secret, child, epicIssue } = scene;
    const send = senderOf(cast);
    if (kind === 'epic') {
      await send('POST', `${list}/${visible.iid}/epics/${secret.id}`);
      await send('POST', `${list}/${secret.iid}/epics/${child.id}`);
      await send('POST', `${list}/${secret.iid}/issues/${epicIssue.id}`);
      await send('PUT', `${project}/issues/${epicIssue.iid}`, { confidential: true });
      await send('PUT', `${list}/${child.iid}`, { confidential: true });
    } else {
      await send('POST', `${list}/${visible.iid}/links`, {
        target_project_id: project.split('/').at(-1),
        target_issue_iid: secret.iid,
      });
      await send('POST', `${group}/epics/${child.iid}/issues/${secret.id}`);
    }
    await send('PUT', `${list}/${secret.iid}`, { state_event: 'close' });
    await send('PUT', `${list}/${secret.iid}`, { state_event: 'reopen' });
    await box.clear();
    await send('PUT', `${list}/${secret.iid}`, { confidential: true });
    // No request can do this: visible targets of a confidential epic, which must not reveal it.
    await at().database.query('update epics set confidential = false where id = $1', [child.id]);
    await at().database.query('update issues set confidential = false where id = $1', [epicIssue.id]);
    await send('POST', `${notesParentOf(kind, scene, secret)}/notes`, { body: `${WORD} again` });
  }

  /** Creates a scene with all effects of a secret, which is an internal note, or the target itself. */
  async function sceneOf(kind: Kind, isNote: boolean): Promise<Scene> {
    const scene = await createTargets(kind, isNote);
    const { cast, list, secret, text } = scene;
    const send = senderOf(cast);
    const parent = notesParentOf(kind, scene, secret);
    const { id: note } = isNote
      ? await send('POST', `${parent}/notes`, { body: text, internal: true }, 'developer')
      : await send('POST', `${parent}/notes`, { body: WORD });
    await send('POST', `${list}/${secret.iid}/notes/${note}/award_emoji`, { name: 'tada' });
    const { id: award } = await send('POST', `${list}/${secret.iid}/award_emoji`, { name: 'tada' });
    const { body } = await as(cast, 'owner').get(`${parent}/discussions`).expect(200);
    const rows = body as { readonly id: string; readonly notes: readonly Target[] }[];
    const discussion = rows.find((row) => row.notes.some(({ id }) => id === note))!.id;
    if (!isNote) await makeConfidential(kind, scene);
    await box.delivered();
    return { ...scene, note, discussion, award };
  }

  return { as, sceneOf };
}
