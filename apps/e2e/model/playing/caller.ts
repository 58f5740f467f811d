import { setTimeout as pause } from 'node:timers/promises';
import type { Decision } from '../checking/checker';
import type { History } from '../checking/history';
import type { Forest } from '../rules/forest';
import type { Question, Verdict } from '../rules/reference-model';
import type { Asker, Call, Plan, Secret } from './world';

const CALL_LIMIT_MS = 15_000;
const DEFINITE_WITHIN_MS = 180_000;
/** Statuses that decide nothing: limits, and what is down. */
export const isUndecided = (status: number): boolean => status === 0 || status === 429 || status >= 500;

/** For a token that was revoked before anybody was told its secret: whoever brings none at all would be somebody else. */
const LOST = 'glpat-nobody-was-ever-told';

/** Makes calls through the gateways, at the pace of the run, and keeps them all with their times. */
export class Caller {
  readonly calls: Call[] = [];
  readonly decisions: { readonly call: Call; readonly decision: Decision }[] = [];
  private readonly from = performance.now();
  private made = 0;

  constructor(
    private readonly rootToken: string,
    private readonly forest: History<Forest>,
    /** Units: calls a second. */
    private readonly rate: number,
  ) {}

  get steps(): number {
    return this.made;
  }

  /** Units: ms since the run began. */
  get now(): number {
    return performance.now() - this.from;
  }

  /** Drivers wait here before each scene, so that faults and calls keep step. */
  async keepPace(stepsBefore: number, since: number): Promise<void> {
    const dueMs = ((this.made - stepsBefore) / this.rate) * 1000 - (this.now - since);
    if (dueMs > 0) await pause(dueMs);
  }

  /** Makes a call and notes its answer as a decision. */
  async ask(plan: Plan): Promise<Call> {
    const call = await this.send(plan);
    if (isUndecided(call.status)) await pause(60);
    else this.note(call, observed(call.status, plan.question));
    return call;
  }

  /** Whatever happens to the first attempt: tries, as root, until it is known what became of the change. */
  async settle(plan: Plan, first: Call, again: Pick<Plan, 'method' | 'path'> & { json?: object }): Promise<Call> {
    const until = this.now + DEFINITE_WITHIN_MS;
    // What the first attempt began may still go on behind a gateway that was killed.
    await pause(1000);
    for (;;) {
      await pause(120);
      const call = await this.send({
        gateway: plan.gateway,
        question: plan.question,
        ...again,
        asker: 'root',
      });
      if (!isUndecided(call.status)) return { ...call, start: first.start };
      if (this.now > until)
        throw new Error(`${again.method} ${again.path}: ${call.status} for ${DEFINITE_WITHIN_MS} ms`);
    }
  }

  /** Shape: `observed` may differ from the status where one answer holds many decisions. */
  note(
    call: Call,
    observed: Verdict,
    question = call.plan.question,
    secret: Secret | undefined = call.plan.secret,
  ): void {
    const { asker, gateway } = call.plan;
    const decision: Decision = {
      start: call.start,
      end: call.end,
      gateway: gateway.name,
      question,
      asker: typeof asker === 'string' ? asker : { history: asker.person.history, token: asker.token },
      forest: this.forest,
      secret: secret?.history,
      observed,
    };
    this.decisions.push({ call, decision });
  }

  private async send(plan: Plan): Promise<Call> {
    const number = (this.made += 1);
    const start = this.now;
    const answer = await this.fetch(plan);
    const call = { number, plan, start, end: this.now, ...answer };
    this.calls.push(call);
    return call;
  }

  private async fetch({ gateway, method, path, json, asker }: Plan): Promise<Pick<Call, 'status' | 'body' | 'total'>> {
    const token = this.secretOf(asker);
    try {
      const response = await fetch(`${gateway.baseUrl}/api/v4${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(token === null ? {} : { 'private-token': token }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(CALL_LIMIT_MS),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
      const total = Number(response.headers.get('x-total') ?? NaN);
      return { status: response.status, body: isJson ? JSON.parse(text) : text, total };
    } catch {
      return { status: 0, body: null };
    }
  }

  private secretOf(asker: Asker): string | null {
    if (asker === 'anonymous') return null;
    return asker === 'root' ? this.rootToken : (asker.person.secrets.get(asker.token)?.secret ?? LOST);
  }
}

/** People who are told that their wish is wrong, or comes too late, were let in. */
function observed(status: number, { token }: Question): Verdict {
  if (status === 400 && token) return 400;
  return status === 301 || status === 401 || status === 403 || status === 404 ? status : 'allow';
}
