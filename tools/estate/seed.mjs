/**
 * Makes what a seed file names, through the API of the running estate, so that every rule of it holds. One thing after the
 * other in the order of the file, so ids are the same each time. What is there already stays: a seed that was broken off is
 * completed by applying it again.
 */
import { setTimeout as delay } from 'node:timers/promises';

const LEVELS = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 };
const TRIES = 20;

/**
 * Shape: `seed` as readSeed answers it; `giveTokens([{ username, token, scopes }])`. Answers what there is, in words.
 * Errors: a plain Error with file, line and field, and what the API said.
 */
export async function applySeed(seed, { baseUrl, token, giveTokens }) {
  const api = new Api(`${baseUrl}/api/v4`, token, seed);
  for (const [index, user] of seed.users.entries()) await api.user(user, ['users', index]);
  const tokens = seed.users
    .filter((user) => user.token)
    .map(({ username, token: own, scopes }) => ({ username, token: own, scopes }));
  if (tokens.length > 0) await giveTokens(tokens);
  for (const [index, group] of seed.groups.entries()) await api.group(group, ['groups', index]);
  for (const [index, project] of seed.projects.entries()) await api.project(project, ['projects', index]);
  const issues = seed.projects.flatMap((project) => project.issues ?? []).length;
  return [
    count(seed.users, 'user'),
    count(seed.groups, 'group'),
    count(seed.projects, 'project'),
    `${issues} issue${issues === 1 ? '' : 's'}`,
  ].join(', ');
}

function count(list, noun) {
  return `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
}

class Api {
  constructor(base, token, seed) {
    Object.assign(this, { base, token, seed, ids: new Map() });
  }

  async user({ username, name = username, email = `${username}@example.com`, admin, external }, path) {
    const [known] = await this.ask(path, 'GET', `/users?username=${encodeURIComponent(username)}`);
    const user =
      known ??
      (await this.ask(path, 'POST', '/users', {
        username,
        name,
        email,
        admin,
        external,
        force_random_password: true,
      }));
    this.ids.set(username, user.id);
  }

  async group({ path: fullPath, name, members = [], ...others }, path) {
    const { parent, last } = placeOf(fullPath);
    let group = await this.find(path, `/groups/${encodeURIComponent(fullPath)}`);
    if (!group) {
      const above = parent === null ? null : await this.parent(parent, path, '/groups/');
      const json = { name: name ?? last, path: last, ...others, ...(above ? { parent_id: above.id } : {}) };
      group = await this.ask(path, 'POST', '/groups', json);
    }
    await this.members(`/groups/${group.id}`, members, path);
  }

  async project({ path: fullPath, name, members = [], issues = [], ...others }, path) {
    const { parent, last } = placeOf(fullPath);
    let project = await this.find(path, `/projects/${encodeURIComponent(fullPath)}`);
    if (!project) {
      const above = await this.parent(parent, path, '/namespaces/');
      project = await this.ask(path, 'POST', '/projects', {
        name: name ?? last,
        path: last,
        namespace_id: above.id,
        ...others,
      });
    }
    await this.members(`/projects/${project.id}`, members, path);
    for (const [index, issue] of issues.entries())
      await this.issue(project.id, index + 1, issue, [...path, 'issues', index]);
  }

  async parent(fullPath, path, kind) {
    const above = await this.find([...path, 'path'], `${kind}${encodeURIComponent(fullPath)}`);
    if (!above) throw this.problem([...path, 'path'], `lies in ${fullPath}, which is not there`);
    return above;
  }

  async members(place, members, path) {
    for (const [index, { username, access_level: level, expires_at: end }] of members.entries()) {
      const at = [...path, 'members', index];
      const json = { access_level: LEVELS[level] ?? level, ...(end ? { expires_at: end } : {}) };
      const id = await this.userId(username, [...at, 'username']);
      const known = await this.find(at, `${place}/members/${id}`);
      if (!known) await this.ask(at, 'POST', `${place}/members`, { user_id: id, ...json });
      else if (known.access_level !== json.access_level) await this.ask(at, 'PUT', `${place}/members/${id}`, json);
    }
  }

  async issue(project, iid, { author, assignees = [], labels = [], state = 'opened', ...others }, path) {
    const place = `/projects/${project}/issues`;
    let issue = await this.find(path, `${place}/${iid}`);
    if (!issue) {
      const people = [];
      for (const [index, username] of assignees.entries())
        people.push(await this.userId(username, [...path, 'assignees', index]));
      const json = {
        ...others,
        ...(people.length > 0 ? { assignee_ids: people } : {}),
        ...(labels.length > 0 ? { labels } : {}),
      };
      const by = author === undefined ? null : await this.userId(author, [...path, 'author']);
      issue = await this.ask(path, 'POST', place, json, by);
    }
    if (issue.iid !== iid || issue.title !== others.title.trim())
      throw this.problem(path, `is not issue ${iid} of its project`);
    if (state === 'closed' && issue.state === 'opened')
      await this.ask(path, 'PUT', `${place}/${iid}`, { state_event: 'close' });
  }

  async userId(username, path) {
    if (!this.ids.has(username)) {
      const [user] = await this.ask(path, 'GET', `/users?username=${encodeURIComponent(username)}`);
      if (!user) throw this.problem(path, 'names nobody');
      this.ids.set(username, user.id);
    }
    return this.ids.get(username);
  }

  find(path, url) {
    return this.ask(path, 'GET', url, undefined, null, [404]);
  }

  /** Null for a status that is expected. A service that is not there for a moment is asked again. */
  async ask(path, method, url, json, sudo = null, expected = []) {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${this.base}${url}`, {
        method,
        headers: {
          'private-token': this.token,
          ...(sudo === null ? {} : { sudo: String(sudo) }),
          ...(json ? { 'content-type': 'application/json' } : {}),
        },
        ...(json ? { body: JSON.stringify(json) } : {}),
      });
      const body = await response.json().catch(() => null);
      if (response.ok) return body;
      if (expected.includes(response.status)) return null;
      if (![429, 503].includes(response.status) || tries === TRIES)
        throw this.problem(
          path,
          `was refused: ${response.status} ${JSON.stringify(body?.message ?? body?.error ?? body)}`,
        );
      await delay(250);
    }
  }

  problem(path, text) {
    return new Error(`${this.seed.place(path)} ${text}`);
  }
}

function placeOf(fullPath) {
  const at = fullPath.lastIndexOf('/');
  return { parent: at < 0 ? null : fullPath.slice(0, at), last: fullPath.slice(at + 1) };
}
