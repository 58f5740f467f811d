import { registerVisibilityTests } from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { standpoint } from '../support/standings';

let identity: IdentityApp;
let ada: Person;
const { group, project, join, person } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

const fetchProject = async (id: number, client: Person['client'], query: object = {}) => {
  const { body } = await client
    .get(`/api/v4/projects/${id}`)
    .query({ ...query })
    .expect(200);
  return body;
};
const shareProject = (id: number, group_id: number, group_access: number) =>
  ada.client
    .post(`/api/v4/projects/${id}/share`)
    .send({ group_id, group_access, expires_at: inDays(9) })
    .expect(201);

describe('GET /projects/:id', () => {
  it('shows topics in their order, in both shapes', async () => {
    const { id } = await project(ada, { visibility: 'public', topics: ['zoo', 'Ape', 'ZOO'] });
    for (const client of [ada.client, identity.anonymous]) {
      expect(await fetchProject(id, client)).toMatchObject({
        topics: ['zoo', 'Ape'],
        tag_list: ['zoo', 'Ape'],
        star_count: 0,
      });
    }
  });

  it('shows the source of a fork if the caller can see it', async () => {
    const origin = await project(ada, { visibility: 'public', topics: ['source'], description: 'first' });
    const bob = await person();
    const { body: fork }: { body: { id: number } } = await bob.client
      .post(`/api/v4/projects/${origin.id}/fork`)
      .expect(201);
    await ada.client.post(`/api/v4/projects/${fork.id}/star`).expect(201);
    const shown = await fetchProject(fork.id, bob.client);
    expect(shown).toMatchObject({ star_count: 1, forks_count: 0 });
    expect(shown.forked_from_project).toEqual(await fetchProject(origin.id, identity.anonymous));
    await ada.client.put(`/api/v4/projects/${origin.id}`).send({ visibility: 'private' }).expect(200);
    expect(await fetchProject(fork.id, bob.client)).not.toHaveProperty('forked_from_project');
    expect((await fetchProject(fork.id, identity.root)).forked_from_project.id).toBe(origin.id);
    await join(`/api/v4/projects/${origin.id}`, bob, 10);
    expect((await fetchProject(fork.id, bob.client)).forked_from_project.id).toBe(origin.id);
    await identity.db.query(`update members set expires_on = current_date where source_id = $1 and user_id = $2`, [
      origin.id,
      bob.id,
    ]);
    expect(await fetchProject(fork.id, bob.client)).not.toHaveProperty('forked_from_project');
  });

  it('counts open issues for callers who may see issues', async () => {
    const { id } = await project(ada, { visibility: 'public', issues_access_level: 'private' });
    await identity.db.query(
      `update project_statistics set open_issues_count = 7, open_public_issues_count = 7 where project_id = $1`,
      [id],
    );
    const bob = await person();
    expect(await fetchProject(id, ada.client)).toMatchObject({
      open_issues_count: 7,
      _links: { issues: expect.any(String) },
    });
    const outside = await fetchProject(id, bob.client);
    expect(outside).not.toHaveProperty('open_issues_count');
    expect(outside._links).not.toHaveProperty('issues');
    await ada.client.put(`/api/v4/projects/${id}`).send({ issues_access_level: 'disabled' }).expect(200);
    expect(await fetchProject(id, ada.client)).not.toHaveProperty('open_issues_count');
    await ada.client.put(`/api/v4/projects/${id}`).send({ issues_access_level: 'enabled' }).expect(200);
    expect((await fetchProject(id, bob.client)).open_issues_count).toBe(7);
    const links = (await fetchProject(id, bob.client))._links;
    const at = `http://localhost:8080/api/v4/projects/${id}`;
    expect(links).toEqual({
      self: at,
      issues: `${at}/issues`,
      merge_requests: `${at}/merge_requests`,
      repo_branches: `${at}/repository/branches`,
      labels: `${at}/labels`,
      events: `${at}/events`,
      members: `${at}/members`,
      cluster_agents: `${at}/cluster_agents`,
    });
  });

  describe('with confidential issues', () => {
    const ALL = 7;
    const PUBLIC = 5;
    let home: MadeGroup;
    let id: number;
    beforeAll(async () => {
      home = await group(ada, { visibility: 'public' });
      id = (await project(ada, { namespace_id: home.id, visibility: 'public' })).id;
      await identity.db.query(
        `update project_statistics set open_issues_count = $2, open_public_issues_count = $3 where project_id = $1`,
        [id, ALL, PUBLIC],
      );
    });
    const countOf = ({ open_issues_count }: { open_issues_count: number }): number => open_issues_count;

    it.each<[string, number | null, number]>([
      ['a stranger', null, PUBLIC],
      ['a guest', 10, PUBLIC],
      ['a planner', 15, ALL],
      ['a reporter', 20, ALL],
      ['a developer', 30, ALL],
      ['a maintainer', 40, ALL],
      ['an owner', 50, ALL],
    ])('counts for %s the issues that the role may read', async (_, level, expected) => {
      const member = await person();
      if (level !== null) await join(`/api/v4/projects/${id}`, member, level);
      expect(countOf(await fetchProject(id, member.client))).toBe(expected);
      const starred = await member.client.post(`/api/v4/projects/${id}/star`).expect(201);
      expect(countOf(starred.body)).toBe(expected);
      const { body: left } = await member.client.post(`/api/v4/projects/${id}/unstar`).expect(201);
      expect(countOf(left)).toBe(expected);
      const paths = [
        `/api/v4/projects?id_after=${id - 1}&id_before=${id + 1}`,
        `/api/v4/groups/${home.id}/projects`,
        `/api/v4/users/${member.id}/starred_projects`,
      ];
      await member.client.post(`/api/v4/projects/${id}/star`).expect(201);
      for (const path of paths) {
        const { body } = await member.client.get(path).expect(200);
        expect([path, body.map(countOf)]).toEqual([path, [expected]]);
      }
      const { body: shown } = await member.client.get(`/api/v4/groups/${home.id}`).expect(200);
      expect(shown.projects.map(countOf)).toEqual([expected]);
    });

    it('counts all issues for administrators, and for callers with the role by an invited group', async () => {
      expect(countOf(await fetchProject(id, identity.root))).toBe(ALL);
      const [guest, planner] = [await person(), await person()];
      const invited = await group(ada, { visibility: 'public' });
      await join(`/api/v4/groups/${invited.id}`, guest, 10);
      await join(`/api/v4/groups/${invited.id}`, planner, 40);
      await shareProject(id, invited.id, 15);
      expect(countOf(await fetchProject(id, guest.client))).toBe(PUBLIC);
      expect(countOf(await fetchProject(id, planner.client))).toBe(ALL);
      const shared = (client: Person['client']) => client.get(`/api/v4/groups/${invited.id}`).expect(200);
      for (const [one, expected] of [
        [guest, PUBLIC],
        [planner, ALL],
      ] as const) {
        expect((await shared(one.client)).body.shared_projects.map(countOf)).toEqual([expected]);
        const { body } = await one.client.get(`/api/v4/groups/${invited.id}/projects/shared`).expect(200);
        expect(body.map(countOf)).toEqual([expected]);
      }
    });

    it('shows anonymous callers no count anywhere', async () => {
      const paths = [
        `/api/v4/projects/${id}`,
        `/api/v4/projects?id_after=${id - 1}&id_before=${id + 1}`,
        `/api/v4/groups/${home.id}/projects`,
        `/api/v4/groups/${home.id}`,
        `/api/v4/projects/${id}/forks`,
        `/api/v4/users/${ada.id}/projects`,
        `/api/v4/users/${ada.id}/starred_projects`,
      ];
      for (const path of paths) {
        const { text } = await identity.anonymous.get(path).expect(200);
        expect([path, text.includes('open_issues_count')]).toEqual([path, false]);
      }
    });

    it('counts in answers of changes and forks like in reads', async () => {
      const maintainer = await person();
      await join(`/api/v4/projects/${id}`, maintainer, 40);
      const { body: changed } = await maintainer.client
        .put(`/api/v4/projects/${id}`)
        .send({ description: 'x' })
        .expect(200);
      expect(countOf(changed)).toBe(ALL);
      const stranger = await person();
      const { body: fork } = await stranger.client.post(`/api/v4/projects/${id}/fork`).expect(201);
      expect(countOf(fork)).toBe(0);
      expect(fork.forked_from_project).not.toHaveProperty('open_issues_count');
      const { body: forks } = await stranger.client.get(`/api/v4/projects/${id}/forks`).expect(200);
      expect(forks.map(countOf)).toEqual([0]);
    });
  });

  describe('with shares', () => {
    let open: MadeGroup;
    let secret: MadeGroup;
    let id: number;
    beforeAll(async () => {
      [open, secret] = [await group(ada, { visibility: 'public' }), await group(ada)];
      const home = await group(ada, { visibility: 'public' });
      id = (await project(ada, { namespace_id: home.id, visibility: 'public' })).id;
      await shareProject(id, open.id, 20);
      await shareProject(id, secret.id, 30);
    });

    it('includes invited groups that the caller can see', async () => {
      const names = async (client: Person['client']) =>
        (await fetchProject(id, client)).shared_with_groups.map((one: { group_id: number }) => one.group_id);
      const bob = await person();
      expect(await names(bob.client)).toEqual([open.id]);
      expect(await names(ada.client)).toEqual([open.id, secret.id]);
      expect(await names(identity.root)).toEqual([open.id, secret.id]);
      await join(`/api/v4/groups/${secret.id}`, bob, 10);
      expect(await names(bob.client)).toEqual([open.id, secret.id]);
      expect((await fetchProject(id, bob.client)).shared_with_groups[0]).toEqual({
        group_id: open.id,
        group_name: open.name,
        group_full_path: open.full_path,
        group_access_level: 20,
        expires_at: inDays(9),
      });
    });

    it('counts the level by an invited group as group access', async () => {
      const [eve, mia] = [await person(), await person()];
      const of = async (who: Person) => (await fetchProject(id, who.client)).permissions;
      expect(await of(eve)).toEqual({ project_access: null, group_access: null });
      await join(`/api/v4/groups/${open.id}`, eve, 40);
      expect(await of(eve)).toEqual({
        project_access: null,
        group_access: { access_level: 20, notification_level: 3 },
      });
      await join(`/api/v4/projects/${id}`, eve, 10);
      expect((await of(eve)).project_access.access_level).toBe(10);
      await join(`/api/v4/groups/${secret.id}`, mia, 15);
      expect((await of(mia)).group_access.access_level).toBe(15);
      expect((await of(ada)).group_access.access_level).toBe(50);
    });
  });

  it('shows statistics to reporters and administrators on request', async () => {
    const { id } = await project(ada, { visibility: 'public' });
    await identity.db.query(
      `update project_statistics set repository_size = 12, commit_count = 3 where project_id = $1`,
      [id],
    );
    const bob = await person();
    for (const client of [ada.client, identity.root]) {
      expect((await fetchProject(id, client, { statistics: 'True' })).statistics).toMatchObject({
        commit_count: 3,
        storage_size: 12,
        repository_size: 12,
      });
      expect(await fetchProject(id, client)).not.toHaveProperty('statistics');
    }
    for (const client of [bob.client, identity.anonymous]) {
      expect(await fetchProject(id, client, { statistics: true })).not.toHaveProperty('statistics');
    }
    await join(`/api/v4/projects/${id}`, bob, 15);
    expect(await fetchProject(id, bob.client, { statistics: true })).not.toHaveProperty('statistics');
    const { status, body } = await ada.client.get(`/api/v4/projects/${id}?statistics=x`);
    expect([status, body]).toEqual([400, { error: 'statistics is invalid' }]);
  });

  it('has no licence without a repository, and shows null on request', async () => {
    const { id } = await project(ada);
    expect(await fetchProject(id, ada.client, { license: true })).toMatchObject({ license: null, license_url: null });
    expect(await fetchProject(id, ada.client)).not.toHaveProperty('license');
  });

  it('shows custom attributes to administrators on request', async () => {
    const { id } = await project(ada, { visibility: 'public' });
    await identity.root.put(`/api/v4/projects/${id}/custom_attributes/b`).send({ value: '2' }).expect(200);
    await identity.root.put(`/api/v4/projects/${id}/custom_attributes/a`).send({ value: '1' }).expect(200);
    expect((await fetchProject(id, identity.root, { with_custom_attributes: true })).custom_attributes).toEqual([
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ]);
    expect(await fetchProject(id, identity.root)).not.toHaveProperty('custom_attributes');
    expect(await fetchProject(id, ada.client, { with_custom_attributes: true })).not.toHaveProperty(
      'custom_attributes',
    );
  });

  it('shows administrative fields to maintainers, and the error of an import only in the single answer', async () => {
    const { id } = await project(ada, { visibility: 'public', name: 'administered' });
    await identity.db.query(
      `update projects set import_error = 'broken', import_url = 'https://x.example' where id = $1`,
      [id],
    );
    const secrets = ['runners_token', 'import_url', 'import_type', 'build_timeout', 'auto_devops_enabled'];
    const [bob, mia] = [await person(), await person()];
    await join(`/api/v4/projects/${id}`, bob, 30);
    await join(`/api/v4/projects/${id}`, mia, 40);
    const [few, most] = [await fetchProject(id, bob.client), await fetchProject(id, mia.client)];
    for (const name of [...secrets, 'import_error']) {
      expect(few).not.toHaveProperty(name);
      expect(most).toHaveProperty(name);
    }
    expect(most.import_error).toBe('broken');
    const [listed] = (await mia.client.get('/api/v4/projects?search=administered')).body;
    for (const name of secrets) expect(listed).toHaveProperty(name);
    expect(listed).not.toHaveProperty('import_error');
  });

  it('has all fields that clients read', async () => {
    const { id } = await project(ada, { description: 'd' });
    const shown = await fetchProject(id, ada.client);
    expect(Object.keys(shown)).toEqual(expect.arrayContaining(FIELDS));
    await ada.client.head(`/api/v4/projects/${id}`).expect(200);
  });

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const { id } = await project(ada, { visibility: level });
      return standpoint(identity, standing, `/api/v4/projects/${id}`, `/api/v4/projects/${id}`);
    },
  });
});

/** Source: requirements 2 §2 Group; reference identity-and-import 10.2. */
const FIELDS =
  `id description default_branch tag_list topics archived visibility ssh_url_to_repo http_url_to_repo web_url
  name name_with_namespace path path_with_namespace issues_enabled merge_requests_enabled wiki_enabled jobs_enabled
  snippets_enabled container_registry_enabled created_at last_activity_at shared_runners_enabled creator_id namespace
  avatar_url star_count forks_count open_issues_count public_jobs shared_with_groups request_access_enabled readme_url
  container_registry_image_prefix _links packages_enabled empty_repo owner resolve_outdated_diff_discussions
  repository_object_format service_desk_enabled can_create_merge_request_in issues_access_level repository_access_level
  merge_requests_access_level forking_access_level wiki_access_level builds_access_level snippets_access_level
  pages_access_level analytics_access_level container_registry_access_level security_and_compliance_access_level
  releases_access_level environments_access_level feature_flags_access_level infrastructure_access_level
  monitor_access_level model_experiments_access_level model_registry_access_level emails_disabled emails_enabled
  lfs_enabled import_url import_type import_status import_error description_html updated_at runners_token ci_config_path
  autoclose_referenced_issues max_artifacts_size permissions marked_for_deletion_at marked_for_deletion_on merge_method
  squash_option`.split(/\s+/);
