/**
 * Creates the resources of a seed file through the API of the running estate, so that all rules of the API apply. Resources
 * are created one after the other in the order of the file, so ids are always the same. Existing resources stay: an
 * interrupted seed is completed by applying it again.
 *
 * @import { Path, Seed, SeedGroup, SeedIssue, SeedMember, SeedProject, SeedUser } from './seed-file.mjs'
 * @typedef {{ username: string, token: string | undefined, scopes: string[] | undefined }} FixedToken
 */
import { setTimeout as delay } from 'node:timers/promises';

/** @type {Record<string, number>} */
const LEVELS = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40, owner: 50 };
const TRIES = 20;

/**
 * Applies a seed. Resolves to a summary of the created resources.
 * Errors: a plain Error with file, line and field, and the answer of the API.
 * @param {Seed} seed
 * @param {{ baseUrl: string, token: string, giveTokens(tokens: FixedToken[]): Promise<unknown> }} options
 */
export async function applySeed(seed, { baseUrl, token, giveTokens }) {
  const api = new SeedApiClient(`${baseUrl}/api/v4`, token, seed);
  for (const [index, user] of seed.users.entries()) await api.user(user, ['users', index]);
  const tokens = seed.users
    .filter((user) => user.token)
    .map(({ username, token: own, scopes }) => ({ username, token: own, scopes }));
  if (tokens.length > 0) await giveTokens(tokens);
  for (const [index, group] of seed.groups.entries()) await api.group(group, ['groups', index]);
  for (const [index, project] of seed.projects.entries()) await api.project(project, ['projects', index]);
  const issues = seed.projects.flatMap((project) => project.issues ?? []).length;
  return [
    countWithNoun(seed.users, 'user'),
    countWithNoun(seed.groups, 'group'),
    countWithNoun(seed.projects, 'project'),
    `${issues} issue${issues === 1 ? '' : 's'}`,
  ].join(', ');
}

/**
 * @param {unknown[]} list
 * @param {string} noun
 */
function countWithNoun(list, noun) {
  return `${list.length} ${noun}${list.length === 1 ? '' : 's'}`;
}

class SeedApiClient {
  /** Ids of users by username. @type {Map<string, number>} */
  ids = new Map();

  /**
   * @param {string} base
   * @param {string} token
   * @param {Seed} seed
   */
  constructor(base, token, seed) {
    this.base = base;
    this.token = token;
    this.seed = seed;
  }

  /**
   * @param {SeedUser} user
   * @param {Path} path
   */
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

  /**
   * @param {SeedGroup} group
   * @param {Path} path
   */
  async group({ path: fullPath, name, members = [], ...others }, path) {
    const { parent, last } = splitPath(fullPath);
    let group = await this.find(path, `/groups/${encodeURIComponent(fullPath)}`);
    if (!group) {
      const above = parent === null ? null : await this.parent(parent, path, '/groups/');
      const json = { name: name ?? last, path: last, ...others, ...(above ? { parent_id: above.id } : {}) };
      group = await this.ask(path, 'POST', '/groups', json);
    }
    await this.members(`/groups/${group.id}`, members, path);
  }

  /**
   * @param {SeedProject} project
   * @param {Path} path
   */
  async project({ path: fullPath, name, members = [], issues = [], ...others }, path) {
    const { parent, last } = splitPath(fullPath);
    let project = await this.find(path, `/projects/${encodeURIComponent(fullPath)}`);
    if (!project) {
      const above = await this.parent(parent ?? '', path, '/namespaces/');
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

  /**
   * @param {string} fullPath
   * @param {Path} path
   * @param {string} kind
   */
  async parent(fullPath, path, kind) {
    const above = await this.find([...path, 'path'], `${kind}${encodeURIComponent(fullPath)}`);
    if (!above) throw this.problem([...path, 'path'], `is in ${fullPath}, which does not exist`);
    return above;
  }

  /**
   * @param {string} place
   * @param {SeedMember[]} members
   * @param {Path} path
   */
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

  /**
   * @param {number} project
   * @param {number} iid
   * @param {SeedIssue} issue
   * @param {Path} path
   */
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

  /**
   * @param {string} username
   * @param {Path} path
   * @returns {Promise<number>}
   */
  async userId(username, path) {
    const known = this.ids.get(username);
    if (known !== undefined) return known;
    const [user] = await this.ask(path, 'GET', `/users?username=${encodeURIComponent(username)}`);
    if (!user) throw this.problem(path, 'is no user');
    this.ids.set(username, user.id);
    return user.id;
  }

  /**
   * @param {Path} path
   * @param {string} url
   */
  find(path, url) {
    return this.ask(path, 'GET', url, undefined, null, [404]);
  }

  /**
   * Sends a request, and repeats it while the service is unavailable. Resolves to null for an expected error status.
   * @param {Path} path
   * @param {string} method
   * @param {string} url
   * @param {object} [json]
   * @param {number | null} [sudo]
   * @param {number[]} [expected]
   * @returns {Promise<any>}
   */
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
      const body = /** @type {any} */ (await response.json().catch(() => null));
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

  /**
   * @param {Path} path
   * @param {string} text
   */
  problem(path, text) {
    return new Error(`${this.seed.place(path)} ${text}`);
  }
}

/** @param {string} fullPath */
function splitPath(fullPath) {
  const at = fullPath.lastIndexOf('/');
  return { parent: at < 0 ? null : fullPath.slice(0, at), last: fullPath.slice(at + 1) };
}
