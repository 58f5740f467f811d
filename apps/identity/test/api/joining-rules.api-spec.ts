import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup, MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let owner: Person;
const make = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  owner = await make.person();
});
afterAll(() => identity.close());

type SourcePath = `/api/v4/${'groups' | 'projects'}/${number}`;
const groupPath = ({ id }: MadeGroup): SourcePath => `/api/v4/groups/${id}`;
const projectPath = ({ id }: MadeProject): SourcePath => `/api/v4/projects/${id}`;
const putSettings = (group: MadeGroup, settings: object) =>
  owner.client.put(groupPath(group)).send(settings).expect(200);
const postMember = (where: SourcePath, body: object, by = owner) =>
  by.client.post(`${where}/members`).send({ access_level: 30, ...body });
const listMemberUsernames = async (where: SourcePath) => {
  const { body } = await owner.client.get(`${where}/members`);
  return (body as { username: string }[]).map((member) => member.username).sort();
};
const LOCKED = { status: 405, body: { message: '405 Method Not Allowed' } };

describe('a group with membership_lock', () => {
  let top: MadeGroup;
  let below: MadeGroup;
  let project: MadeProject;
  let early: Person;
  beforeAll(async () => {
    top = await make.group(owner, { visibility: 'public' });
    below = await make.group(owner, { parent_id: top.id, visibility: 'public' });
    project = await make.project(owner, { namespace_id: below.id, visibility: 'public' });
    early = await make.person();
    await make.join(projectPath(project), early, 30);
    await putSettings(top, { membership_lock: true });
  });

  it('forbids adding members to projects in it and below it, also for administrators', async () => {
    const direct = await make.project(owner, { namespace_id: top.id });
    const bob = await make.person();
    for (const where of [projectPath(project), projectPath(direct)]) {
      expect(await postMember(where, { user_id: bob.id })).toMatchObject(LOCKED);
      expect(await postMember(where, { username: `${bob.username},${early.username}` })).toMatchObject(LOCKED);
      const asRoot = identity.root.post(`${where}/members`).send({ user_id: bob.id, access_level: 30 });
      expect(await asRoot).toMatchObject(LOCKED);
    }
    expect(await listMemberUsernames(projectPath(project))).toEqual([early.username]);
  });

  it('is not disclosed to callers who may not add members', async () => {
    expect(await postMember(projectPath(project), { user_id: owner.id }, early)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden' },
    });
  });

  it('keeps existing members, who can be changed and removed', async () => {
    const members = `${projectPath(project)}/members/${early.id}`;
    const body = { access_level: 20, expires_at: inDays(9) };
    expect(await owner.client.put(members).send(body)).toMatchObject({ status: 200, body: { access_level: 20 } });
    await owner.client.delete(members).expect(204);
    expect(await postMember(projectPath(project), { user_id: early.id })).toMatchObject(LOCKED);
  });

  it('allows adding members to the group itself and to groups below it', async () => {
    for (const group of [top, below]) {
      await postMember(groupPath(group), { user_id: (await make.person()).id }).expect(201);
    }
  });

  it('refuses access requests for its projects, and their approval', async () => {
    const open = await make.group(owner, { visibility: 'public' });
    const other = await make.project(owner, { namespace_id: open.id, visibility: 'public' });
    const requests = `${projectPath(other)}/access_requests`;
    const [ann, cid] = [await make.person(), await make.person()];
    await ann.client.post(requests).expect(201);
    await putSettings(open, { membership_lock: true });
    expect(await owner.client.put(`${requests}/${ann.id}/approve`)).toMatchObject(LOCKED);
    await cid.client.post(requests).expect(403);
    await putSettings(open, { membership_lock: false });
    await owner.client.put(`${requests}/${ann.id}/approve`).expect(201);
  });

  it('keeps project tokens with their bots working', async () => {
    const made = owner.client
      .post(`${projectPath(project)}/access_tokens`)
      .send({ name: 'ci', scopes: ['api'], access_level: 30, expires_at: inDays(9) });
    expect((await made).status).toBe(201);
  });

  it('has no effect on personal projects', async () => {
    const own = await make.project(owner);
    await postMember(projectPath(own), { user_id: (await make.person()).id }).expect(201);
  });
});

describe('a top-level group with allowed_email_domains_list', () => {
  let top: MadeGroup;
  let below: MadeGroup;
  let project: MadeProject;
  beforeAll(async () => {
    top = await make.group(owner, { visibility: 'public' });
    below = await make.group(owner, { parent_id: top.id, visibility: 'public' });
    project = await make.project(owner, { namespace_id: below.id, visibility: 'public' });
    await putSettings(top, { allowed_email_domains_list: ' nest.example, @Colony.example' });
  });
  let serial = 0;
  const personAt = (domain: string) => make.person({ email: `somebody-${++serial}@${domain}` });
  const everywhere = () => [groupPath(top), groupPath(below), projectPath(project)];
  const REFUSED = {
    status: 400,
    body: { message: { user: ['email does not match the allowed domains: nest.example, colony.example'] } },
  };

  it('accepts users whose primary address has one of the domains, ignoring case', async () => {
    for (const where of everywhere()) {
      for (const domain of ['nest.example', 'colony.example', 'NEST.Example']) {
        await postMember(where, { user_id: (await personAt(domain)).id, access_level: 50 }).expect(201);
      }
    }
  });

  it('refuses all other users, also for administrators, and also in subdomains', async () => {
    for (const where of everywhere()) {
      for (const domain of ['example.com', 'sub.nest.example', 'xnest.example']) {
        const user_id = (await personAt(domain)).id;
        expect(await postMember(where, { user_id })).toMatchObject(REFUSED);
        const asRoot = identity.root.post(`${where}/members`).send({ user_id, access_level: 30 });
        expect(await asRoot).toMatchObject(REFUSED);
      }
    }
  });

  it('uses the singular for one domain', async () => {
    const group = await make.group(owner, { visibility: 'public' });
    await putSettings(group, { allowed_email_domains_list: 'nest.example,' });
    const { body } = await postMember(groupPath(group), { user_id: (await personAt('example.com')).id });
    expect(body).toEqual({ message: { user: ['email does not match the allowed domain of nest.example'] } });
  });

  it('requires a confirmed address', async () => {
    const ida = await personAt('nest.example');
    await identity.db.query(`update users set confirmed_at = null where id = $1`, [ida.id]);
    expect(await postMember(groupPath(top), { user_id: ida.id })).toMatchObject({
      status: 400,
      body: { message: { user: ['email is not a verified email'] } },
    });
  });

  it('names the domains only to its owners', async () => {
    const maintainer = await personAt('nest.example');
    await make.join(projectPath(project), maintainer, 40);
    const user_id = (await personAt('example.com')).id;
    expect(await postMember(projectPath(project), { user_id, access_level: 10 }, maintainer)).toMatchObject({
      status: 400,
      body: { message: { user: ['email does not match the allowed domains'] } },
    });
  });

  it('limits disclosures of addresses per hour to the number of confirmation links', async () => {
    const curious = await make.person();
    const probe = await make.group(curious, {});
    await curious.client.put(groupPath(probe)).send({ allowed_email_domains_list: 'nest.example' }).expect(200);
    const strangers = await Promise.all(Array.from({ length: 32 }, () => personAt('example.com')));
    const addStatus = async (people: readonly Person[]) =>
      (await postMember(groupPath(probe), { user_id: people.map(({ id }) => id).join(',') }, curious)).status;
    const fits = await personAt('nest.example');
    expect(await addStatus(strangers.slice(0, 28))).toBe(400);
    expect(await addStatus(strangers.slice(28, 29))).toBe(400);
    const asked = strangers[29]!;
    await curious.client.put(groupPath(probe)).send({ visibility: 'public' }).expect(200);
    await asked.client.post(`${groupPath(probe)}/access_requests`).expect(201);
    await curious.client.put(`${groupPath(probe)}/access_requests/${asked.id}/approve`).expect(400);
    // Refused also in one large request: no user is added, and all refusals count.
    const bold = await make.person();
    const other = await make.group(bold, {});
    await bold.client.put(groupPath(other)).send({ allowed_email_domains_list: 'nest.example' }).expect(200);
    const all = { user_id: [...strangers, fits].map(({ id }) => id).join(',') };
    expect((await postMember(groupPath(other), all, bold)).status).toBe(429);
    expect((await postMember(groupPath(other), { user_id: strangers[0]!.id }, bold)).status).toBe(429);
    const { body: members } = await bold.client.get(`${groupPath(other)}/members`);
    expect(members).toHaveLength(1);
    const answer = await postMember(groupPath(probe), { user_id: fits.id }, curious);
    expect(answer.status).toBe(429);
    expect(answer.body.message.error).toMatch(/The limit email_confirmations is 30 an hour/);
    await postMember(groupPath(top), { user_id: fits.id }).expect(201);
    const { body } = await curious.client.get(`${groupPath(probe)}/members`);
    expect(body).toHaveLength(1);
    const asRoot = identity.root.post(`${groupPath(probe)}/members`).send({ user_id: fits.id, access_level: 10 });
    expect((await asRoot).status).toBe(201);
  });

  it('adds those of several users who are allowed', async () => {
    const [fits, not] = [await personAt('nest.example'), await personAt('example.com')];
    const response = await postMember(projectPath(project), { username: `${fits.username},${not.username}` });
    const why = 'user email does not match the allowed domains: nest.example, colony.example';
    expect(response).toMatchObject({ status: 400, body: { status: 'error', message: { [not.username]: why } } });
    expect(await listMemberUsernames(projectPath(project))).toEqual(expect.arrayContaining([fits.username]));
  });

  it('applies to the approval of access requests', async () => {
    const requests = `${projectPath(project)}/access_requests`;
    const [fits, not] = [await personAt('nest.example'), await personAt('example.com')];
    for (const asking of [fits, not]) await asking.client.post(requests).expect(201);
    expect(await owner.client.put(`${requests}/${not.id}/approve`)).toMatchObject(REFUSED);
    await owner.client.put(`${requests}/${fits.id}/approve`).expect(201);
  });

  it('accepts its own bots and service accounts, and no others', async () => {
    const token = { name: 'ci', scopes: ['api'], access_level: 30, expires_at: inDays(9) };
    const { body: bot }: { body: { user_id: number } } = await owner.client
      .post(`${groupPath(top)}/access_tokens`)
      .send(token)
      .expect(201);
    await postMember(projectPath(project), { user_id: bot.user_id }).expect(201);
    const { body: own }: { body: { id: number } } = await owner.client
      .post(`${groupPath(top)}/service_accounts`)
      .expect(201);
    await postMember(groupPath(below), { user_id: own.id }).expect(201);
    const { body: foreign }: { body: { id: number } } = await identity.root
      .post('/api/v4/service_accounts')
      .expect(201);
    expect(await postMember(groupPath(below), { user_id: foreign.id })).toMatchObject(REFUSED);
  });

  it('has no effect on existing members and on members of invited groups', async () => {
    const group = await make.group(owner, { visibility: 'public' });
    const guest = await personAt('example.com');
    await make.join(groupPath(group), guest, 10);
    await putSettings(group, { allowed_email_domains_list: 'nest.example' });
    const change = owner.client.put(`${groupPath(group)}/members/${guest.id}`).send({ access_level: 20 });
    expect((await change).status).toBe(200);
    const invited = await make.group(owner, { visibility: 'public' });
    const share = owner.client.post(`${groupPath(group)}/share`).send({ group_id: invited.id, group_access: 30 });
    expect((await share).status).toBe(201);
  });

  it('is read from the top-level group only', async () => {
    const parent = await make.group(owner, { visibility: 'public' });
    const child = await make.group(owner, { parent_id: parent.id, visibility: 'public' });
    await putSettings(child, { allowed_email_domains_list: 'nest.example' });
    await postMember(groupPath(child), { user_id: (await personAt('example.com')).id }).expect(201);
  });
});
