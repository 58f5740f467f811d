import { fullPathOf } from '../rules/forest';
import type { Question } from '../rules/reference-model';
import type { Caller, Sent } from './caller';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, World } from './world';
import { undecided } from './caller';

const SIGN_IN = '/-/sign_in';

/** Opens web pages in the sessions of people: a page shows nothing that the API would not. Source: reference pages 1. */
export class PageReads {
  /** Session cookies by the token with which their people signed in. */
  private readonly cookies = new Map<string, string>();

  constructor(
    private readonly world: World,
    private readonly caller: Caller,
  ) {}

  /** Opens a page of the project, by its path or a former one. Nothing happens for a token that cannot sign in. */
  async ofProject(random: SeededRandom, gateway: Gateway, asker: Asker, id: number): Promise<void> {
    const cookie = asker === 'anonymous' ? null : await this.cookieOf(gateway, asker);
    if (cookie === undefined) return;
    const history = this.world.forest;
    const { state } = history.at(random.percent(75) ? history.length - 1 : random.below(history.length));
    const project = state.projects.get(id);
    if (!project) return;
    const full = fullPathOf(state, project);
    const source = { kind: 'project', path: full } as const;
    const question: Question = { service: 'collaboration', source, needs: 0, writes: false };
    const page = this.world.withIssue.has(id) && random.percent(60) ? 'issues/1' : 'issues';
    const path = `/${full.split('/').map(encodeURIComponent).join('/')}/-/${page}`;
    await this.caller.ask({ asker, gateway, method: 'GET', path, question }, () => openPage(gateway, path, cookie));
  }

  /** Signs in, if there is no session of the token yet. Returns undefined if the token cannot sign in. */
  private async cookieOf(gateway: Gateway, asker: Exclude<Asker, 'anonymous'>): Promise<string | undefined> {
    const token = this.caller.secretOf(asker)!;
    const known = this.cookies.get(token);
    if (known !== undefined || this.caller.isOfJob(asker)) return known;
    const body = new URLSearchParams({ token });
    const answer = await opened(gateway, SIGN_IN, { method: 'POST', body });
    const cookie = answer?.status === 303 ? answer.headers.get('set-cookie')?.split(';')[0] : undefined;
    if (cookie !== undefined) this.cookies.set(token, cookie);
    return cookie;
  }
}

async function opened(gateway: Gateway, path: string, init: RequestInit): Promise<Response | null> {
  const headers = { accept: 'text/html', ...(init.headers as Record<string, string> | undefined) };
  const signal = AbortSignal.timeout(15_000);
  return fetch(`${gateway.baseUrl}${path}`, { redirect: 'manual', ...init, headers, signal }).catch(() => null);
}

/** Opens a page. Returns the status that the API would have answered. */
async function openPage(gateway: Gateway, path: string, cookie: string | null): Promise<Sent> {
  const answer = await opened(gateway, path, cookie === null ? {} : { headers: { cookie } });
  if (answer === null) return undecided;
  await answer.arrayBuffer().catch(() => null);
  if (answer.status !== 303) return { status: answer.status, body: null };
  if (!answer.headers.get('location')?.startsWith(SIGN_IN)) return { status: 301, body: null };
  if (cookie === null) return { status: 404, body: null };
  // The session ended with its token. Without this header, the gateway does not know the session.
  return answer.headers.has('set-cookie') ? { status: 401, body: null } : undecided;
}
