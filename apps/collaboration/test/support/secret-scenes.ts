import type { DirectoryNamespace } from '@rookery/contracts';
import { requestOf } from '@rookery/testing';
import type { Method, SeededService } from '@rookery/testing';
import { castOf } from './app';
import type { Cast } from './app';
import type { mailbox } from './mailbox';

export type Kind = 'issue' | 'epic';
export interface Thing {
  readonly id: number;
  readonly iid: number;
}
export interface Scene {
  readonly cast: Cast;
  /** Where things of the kind are listed, and made. */
  readonly list: string;
  readonly group: string;
  readonly above: string;
  readonly below: string;
  readonly project: string;
  /** Seen by all, and bound to the other one in every way. */
  readonly shown: Thing;
  /** Has the secret, or is it. */
  readonly hushed: Thing;
  /** Issues and epics by what holds them, once the secret is an epic. */
  readonly served: Thing;
  readonly child: Thing;
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
export const hushedAt = ({ list, hushed }: Scene): string => `${list}/${hushed.iid}`;
export const shownAt = ({ list, shown }: Scene): string => `${list}/${shown.iid}`;
/** Notes name epics by their id. */
export const talkOf = (kind: Kind, { list }: Pick<Scene, 'list'>, { id, iid }: Thing): string =>
  `${list}/${kind === 'epic' ? id : iid}`;

/** Makes secrets, and asks for them as somebody of their scene. */
export function secretScenes(at: () => SeededService, box: ReturnType<typeof mailbox>) {
  const as = (cast: Cast, who: Who | 'owner') => {
    const { app, seed } = at();
    const { directory } = seed.anonymous();
    return app.as({ ...(who === 'anonymous' ? seed.anonymous() : seed.viewer(cast[who])), directory });
  };
  const senderOf =
    (cast: Cast) =>
    async (method: Method, path: string, body: object = {}, who: 'owner' | 'developer' = 'owner'): Promise<Thing> => {
      const answer = await requestOf(as(cast, who), method, path).send(body);
      if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
      return answer.body as Thing;
    };

  /** Two things of a kind, one of which names the other, and everybody unless a note is to do so. */
  async function thingsOf(kind: Kind, isNote: boolean) {
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
    const shown = await send('POST', list, { title: 'Plain' });
    const people = [...ROLES, 'owner' as const].flatMap((who) => (who === 'anonymous' ? [] : `@${cast[who].username}`));
    const text = `${WORD} ${people.join(' ')} ${kind === 'issue' ? '#' : '&'}${shown.iid}`;
    const ofIssue = kind === 'issue' ? { milestone_id: milestone } : {};
    const hushed = isNote
      ? await send('POST', list, { title: 'Open' })
      : await send('POST', list, { title: WORD, description: text, labels: 'wood', ...ofIssue });
    const child = await send('POST', `${group}/epics`, { title: 'A child' });
    const served = await send('POST', `${project}/issues`, { title: 'A task' });
    const around = { above: `${root}/groups/${above.id}`, group, below: `${root}/groups/${below.id}`, project };
    return { ...around, cast, list, milestone, shown, hushed, child, served, text };
  }

  /** Bound to all that may name it, then kept secret, and told of once more. */
  async function hush(kind: Kind, scene: Awaited<ReturnType<typeof thingsOf>>): Promise<void> {
    const { cast, list, group, project, shown, hushed, child, served } = scene;
    const send = senderOf(cast);
    if (kind === 'epic') {
      await send('POST', `${list}/${shown.iid}/epics/${hushed.id}`);
      await send('POST', `${list}/${hushed.iid}/epics/${child.id}`);
      await send('POST', `${list}/${hushed.iid}/issues/${served.id}`);
      await send('PUT', `${project}/issues/${served.iid}`, { confidential: true });
      await send('PUT', `${list}/${child.iid}`, { confidential: true });
    } else {
      await send('POST', `${list}/${shown.iid}/links`, {
        target_project_id: project.split('/').at(-1),
        target_issue_iid: hushed.iid,
      });
      await send('POST', `${group}/epics/${child.iid}/issues/${hushed.id}`);
    }
    await send('PUT', `${list}/${hushed.iid}`, { state_event: 'close' });
    await send('PUT', `${list}/${hushed.iid}`, { state_event: 'reopen' });
    await box.forget();
    await send('PUT', `${list}/${hushed.iid}`, { confidential: true });
    // No request leads there: what is seen is to name what is not.
    await at().database.query('update epics set confidential = false where id = $1', [child.id]);
    await at().database.query('update issues set confidential = false where id = $1', [served.id]);
    await send('POST', `${talkOf(kind, scene, hushed)}/notes`, { body: `${WORD} again` });
  }

  /** Everything that can be told of a secret. Shape: an internal note, or the thing itself. */
  async function sceneOf(kind: Kind, isNote: boolean): Promise<Scene> {
    const scene = await thingsOf(kind, isNote);
    const { cast, list, hushed, text } = scene;
    const send = senderOf(cast);
    const talk = talkOf(kind, scene, hushed);
    const { id: note } = isNote
      ? await send('POST', `${talk}/notes`, { body: text, internal: true }, 'developer')
      : await send('POST', `${talk}/notes`, { body: WORD });
    await send('POST', `${list}/${hushed.iid}/notes/${note}/award_emoji`, { name: 'tada' });
    const { id: award } = await send('POST', `${list}/${hushed.iid}/award_emoji`, { name: 'tada' });
    const { body } = await as(cast, 'owner').get(`${talk}/discussions`).expect(200);
    const rows = body as { readonly id: string; readonly notes: readonly Thing[] }[];
    const discussion = rows.find((row) => row.notes.some(({ id }) => id === note))!.id;
    if (!isNote) await hush(kind, scene);
    await box.delivered();
    return { ...scene, note, discussion, award };
  }

  return { as, sceneOf };
}
